//! Case rows about how much of a file is kept and how its bytes become text.

use agents_md::{
    Budget, BudgetOrder, Discovery, Encoding, Inputs, LoadedAgentsMd, MemoryFs, Newlines, Operation, Outcome,
    UserSource, Warning, discover_blocking,
};

fn load(discovery: &Discovery, fs: &MemoryFs) -> LoadedAgentsMd {
    discover_blocking(discovery, &Inputs::local("/r/a"), fs).unwrap()
}

fn one_file(bytes: impl Into<Vec<u8>>) -> MemoryFs {
    MemoryFs::new().with_file("/r/a/AGENTS.md", bytes)
}

fn limited(max_bytes: usize) -> Discovery {
    let mut discovery = Discovery::default();
    discovery.max_bytes = max_bytes;
    discovery
}

fn cut(kept: u64, of: u64) -> Outcome {
    Outcome::Cut { kept, of, budget: Budget::Project }
}

fn dropped(of: u64) -> Outcome {
    Outcome::DroppedByBudget { of, budget: Budget::Project }
}

fn root_and_nested() -> MemoryFs {
    MemoryFs::new().with_folder("/r/.git").with_file("/r/AGENTS.md", "root").with_file("/r/a/AGENTS.md", "abcdef")
}

#[track_caller]
fn check(loaded: &LoadedAgentsMd, text: &str, root: &Outcome, nested: &Outcome) {
    assert_eq!(loaded.text(), text);
    let trace = loaded.trace();
    assert_eq!(trace.outcome("local", "/r/AGENTS.md"), Some(root));
    assert_eq!(trace.outcome("local", "/r/a/AGENTS.md"), Some(nested));
}

#[test]
fn b01_root_first_cuts_the_nested_file() {
    let mut discovery = limited(7);
    discovery.order = BudgetOrder::RootFirst;
    let text = "root\n\nabc\n[AGENTS.md: 3 of 6 bytes of /r/a/AGENTS.md are shown, the rest did not fit]";
    check(&load(&discovery, &root_and_nested()), text, &Outcome::Loaded { bytes: 4 }, &cut(3, 6));
}

#[test]
fn b01_nearest_first_cuts_the_root() {
    let text = "r\n[AGENTS.md: 1 of 4 bytes of /r/AGENTS.md are shown, the rest did not fit]\n\nabcdef";
    check(&load(&limited(7), &root_and_nested()), text, &cut(1, 4), &Outcome::Loaded { bytes: 6 });
}

#[test]
fn b01_a_file_without_room_leaves_a_line() {
    let text = "[AGENTS.md: /r/AGENTS.md (4 bytes) is left out, it did not fit]\n\nabcdef";
    let loaded = load(&limited(6), &root_and_nested());
    check(&loaded, text, &dropped(4), &Outcome::Loaded { bytes: 6 });
    assert_eq!(loaded.sources().count(), 1);
}

#[test]
fn b01_after_a_cut_nothing_broader_is_kept() {
    let text = "[AGENTS.md: /r/AGENTS.md (4 bytes) is left out, it did not fit]\n\n\
                abc\n[AGENTS.md: 3 of 6 bytes of /r/a/AGENTS.md are shown, the rest did not fit]";
    check(&load(&limited(3), &root_and_nested()), text, &dropped(4), &cut(3, 6));
}

#[test]
fn b01_neighbours_without_room_share_a_line() {
    let fs = root_and_nested().with_file("/r/a/b/AGENTS.md", "0123456789");
    let loaded = discover_blocking(&limited(10), &Inputs::local("/r/a/b"), &fs).unwrap();
    let want = "[AGENTS.md: /r/AGENTS.md and 1 more (10 bytes) are left out, they did not fit]\n\n0123456789";
    assert_eq!(loaded.text(), want);
}

#[test]
fn b03_a_cut_inside_a_character_moves_before_it() {
    for text in ["aé", "a€", "a😀", "é"] {
        for max_bytes in 1..text.len() {
            let loaded = load(&limited(max_bytes), &one_file(text));
            assert!(!loaded.text().contains('\u{FFFD}'), "{text} at {max_bytes}");
            let kept = text.starts_with('a');
            let path = "/r/a/AGENTS.md";
            let want = if kept { cut(1, text.len() as u64) } else { dropped(text.len() as u64) };
            assert_eq!(loaded.trace().outcome("local", path), Some(&want), "{text} at {max_bytes}");
            assert!(loaded.text().starts_with(if kept { "a\n[AGENTS.md: 1 of" } else { "[AGENTS.md: /r/a" }));
        }
    }
}

#[test]
fn b03_a_cut_is_after_a_line_where_that_keeps_half() {
    let shown = |text: &str, max_bytes| {
        let loaded = load(&limited(max_bytes), &one_file(text));
        loaded.text().split_once("[AGENTS.md").map(|(head, _)| head.to_owned()).unwrap()
    };
    assert_eq!(shown("one\ntwo\nthree\n", 10), "one\ntwo\n");
    assert_eq!(shown("one\r\ntwo\r\nthree\r\n", 12), "one\r\ntwo\r\n");
    assert_eq!(shown("# T\n0123456789abcdef", 12), "# T\n01234567\n");
}

#[test]
fn b04_an_oversized_file_is_reported_and_marked() {
    let line = "0123456789abcde\n";
    let text = line.repeat(2_055);
    assert_eq!(text.len(), 32_880);
    let loaded = load(&Discovery::default(), &one_file(text.as_str()));
    let path = "/r/a/AGENTS.md";
    assert_eq!(loaded.trace().outcome("local", path), Some(&cut(32_768, 32_880)));
    let marker = "[AGENTS.md: 32768 of 32880 bytes of /r/a/AGENTS.md are shown, the rest did not fit]";
    assert_eq!(loaded.text(), format!("{}{marker}", line.repeat(2_048)));
    let [Warning::Cut { path: Some(warned), size: 32_880, kept: 32_768, .. }] = loaded.warnings() else {
        panic!("{:?}", loaded.warnings());
    };
    assert_eq!(warned, std::path::Path::new(path));
    let warning = loaded.warnings()[0].to_string();
    assert_eq!(warning, "/r/a/AGENTS.md (local): 32768 of 32880 bytes are shown to the model");
}

#[test]
fn b05_a_sparse_file_is_not_read_whole() {
    let fs = MemoryFs::new().with_sparse_file("/r/a/AGENTS.md", 5 << 30);
    for discovery in [Discovery::default(), Discovery::codex()] {
        let loaded = load(&discovery, &fs);
        assert_eq!(loaded.trace().outcome("local", "/r/a/AGENTS.md"), Some(&cut(32_768, 5 << 30)));
    }
}

#[test]
fn b06_the_users_file_is_bounded_too() {
    let fs = MemoryFs::new().with_file("/home/AGENTS.md", "rule\n".repeat(1_000_000));
    let inputs = Inputs::default().with_user(UserSource::Folder("/home".into()));
    let loaded = discover_blocking(&Discovery::default(), &inputs, &fs).unwrap();
    let outcome = Outcome::Cut { kept: 32_765, of: 5_000_000, budget: Budget::User };
    assert_eq!(loaded.trace().user_outcome("/home/AGENTS.md"), Some(&outcome));
    assert_eq!(loaded.warnings().len(), 1);

    let text = "rule\n".repeat(10_000);
    let given = UserSource::Given { text: text.as_str().into(), source: None };
    let inputs = Inputs::default().with_user(given);
    let loaded = discover_blocking(&Discovery::default(), &inputs, &fs).unwrap();
    let marker = "[AGENTS.md: 32765 of 50000 bytes of the user instructions are shown, the rest did not fit]";
    assert_eq!(loaded.text(), format!("{}{marker}", "rule\n".repeat(6_553)));
    assert_eq!(loaded.warnings()[0].to_string(), "the user instructions: 32765 of 50000 bytes are shown to the model");
    let loaded = discover_blocking(&Discovery::codex(), &inputs, &fs).unwrap();
    assert_eq!(loaded.text(), text);
}

#[track_caller]
fn check_decoding(bytes: &[u8], text: &str, encoding: Encoding, replacements: usize, first: Option<usize>) {
    let loaded = load(&Discovery::default(), &one_file(bytes));
    let (_, report) = loaded.decode_reports().next().unwrap();
    assert_eq!(loaded.text(), text);
    assert_eq!((report.encoding, report.replacements, report.first_replacement), (encoding, replacements, first));
    assert_eq!(loaded.warnings().is_empty(), replacements == 0);
}

#[test]
fn b07_a_byte_order_mark_is_removed() {
    check_decoding(b"\xEF\xBB\xBF# Rules", "# Rules", Encoding::Utf8, 0, None);
    let loaded = load(&Discovery::default(), &one_file(*b"\xEF\xBB\xBF# Rules"));
    let (_, report) = loaded.decode_reports().next().unwrap();
    assert!(report.bom && !report.is_plain());
    assert_eq!(load(&Discovery::codex(), &one_file(*b"\xEF\xBB\xBF# Rules")).text(), "\u{FEFF}# Rules");
}

fn utf16(text: &str, bytes_of: fn(u16) -> [u8; 2]) -> Vec<u8> {
    "\u{FEFF}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes_of).collect()
}

#[test]
fn b09_utf16_is_decoded() {
    let text = "# Rules\r\nUse é and 😀.\r\n";
    check_decoding(&utf16(text, u16::to_le_bytes), text, Encoding::Utf16Le, 0, None);
    check_decoding(&utf16(text, u16::to_be_bytes), text, Encoding::Utf16Be, 0, None);
    check_decoding(b"\xFF\xFEa\0\x00\xD8", "a\u{FFFD}", Encoding::Utf16Le, 1, Some(4));
    let loaded = load(&Discovery::default(), &one_file(*b"\xFF\xFEa\0\x00\xD8"));
    assert_eq!(
        loaded.warnings()[0].to_string(),
        "Project AGENTS.md instructions from `/r/a/AGENTS.md` contain invalid UTF-16 at byte 4. \
         Invalid byte sequences were replaced.",
    );
}

#[test]
fn b09_a_utf16_file_beyond_the_read_is_cut_between_characters() {
    let mut discovery = limited(8);
    discovery.order = BudgetOrder::RootFirst;
    // Twelve bytes are read: the mark, three letters and both halves of one surrogate pair.
    let loaded = load(&discovery, &one_file(utf16("abc😀defg", u16::to_le_bytes)));
    assert_eq!(loaded.trace().outcome("local", "/r/a/AGENTS.md"), Some(&cut(7, 20)));
    assert!(loaded.text().starts_with("abc😀\n[AGENTS.md: 7 of 20 bytes"));
}

#[test]
fn b10_invalid_utf8_is_replaced_and_counted() {
    check_decoding(b"caf\xE9 au lait \xFF!", "caf\u{FFFD} au lait \u{FFFD}!", Encoding::Utf8, 2, Some(3));
    let loaded = load(&Discovery::default(), &one_file(*b"project\xFF doc"));
    assert_eq!(
        loaded.warnings()[0].to_string(),
        "Project AGENTS.md instructions from `/r/a/AGENTS.md` contain invalid UTF-8: \
         invalid utf-8 sequence of 1 bytes from index 7. Invalid byte sequences were replaced.",
    );
}

#[test]
fn b11_line_ends_are_equal_if_normalised() {
    let (crlf, lf) = (one_file("a\r\nb\r\n"), one_file("a\nb\n"));
    let mut discovery = Discovery::default();
    assert_eq!(load(&discovery, &crlf).text(), "a\r\nb\r\n");
    discovery.newlines = Newlines::Normalize;
    let normalised = load(&discovery, &crlf);
    assert_eq!(normalised.fragment(), load(&discovery, &lf).fragment());
    assert_eq!(normalised.decode_reports().next().unwrap().1.newlines_changed, 2);
}

#[test]
fn a_zero_budget_asks_nothing() {
    for mut discovery in [Discovery::default(), Discovery::codex()] {
        discovery.max_bytes = 0;
        let fs = root_and_nested();
        let loaded = load(&discovery, &fs);
        assert!(loaded.is_empty() && loaded.fragment().is_none() && fs.accesses().is_empty());
        assert_eq!(loaded.trace().environments()[0].notes, [agents_md::Note::Disabled]);
    }
}

#[test]
fn a_read_is_bounded_by_the_budget() {
    use agents_md::{Plan, ReadAnswer, Step};
    let fs = root_and_nested();
    let mut step = Plan::start(&limited(100), &Inputs::local("/r/a")).unwrap();
    let bounds = loop {
        step = match step {
            Step::Probe(round) => round.answer_each(|ask| agents_md::FileSystem::probe(&fs, ask).0).unwrap(),
            Step::Read(round) => break round.asks().iter().map(agents_md::ReadAsk::max_bytes).collect::<Vec<_>>(),
            Step::Done(_) => panic!("nothing to read"),
        };
    };
    assert_eq!(bounds, [104, 104]);
    assert!(fs.accesses().iter().all(|access| access.op == Operation::Probe));
    assert_eq!(ReadAnswer::from_error(&std::io::ErrorKind::NotFound.into()), ReadAnswer::Vanished);
}
