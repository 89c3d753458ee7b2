//! The law that this crate keeps: absence is explained.

use std::collections::BTreeMap;

use agents_md::{
    BudgetOrder, Discovery, FileSystem as _, Imports, Inputs, InstructionProvenance, LoadedAgentsMd, MemoryFs, NameSet,
    Newlines, NoRoot, Operation, Outcome, Overlays, Plan, RootChoice, Scope, Step, Strictness, SymlinkPolicy,
    ThreadInstructions, TrustLevel, TurnEnvironmentSelection, UserSource, discover_blocking,
};
use context_fragments::{Bound, ContextualUserFragment as _};
use proptest::prelude::*;

const FOLDERS: [&str; 6] = ["/", "/r", "/r/a", "/r/a/b", "/r/s", "/t"];
const NAMES: [&str; 8] =
    ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md", ".git", ".root", "AGENTS.local.md", ".gitignore", "x.md"];

/// What may lie at a path.
#[derive(Clone, Debug)]
enum Thing {
    File(Vec<u8>),
    Sparse(u64),
    Folder,
    Other,
    Link(&'static str),
    Vanishing,
    DeniedRead,
    DeniedProbe,
    BrokenProbe,
}

fn thing() -> impl Strategy<Value = Thing> {
    let text = prop_oneof![
        4 => "[a-z é\n]{0,40}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        4 => "(@(x[.]md|[.]/AGENTS[.]md|[.][.]/x[.]md|/t/x[.]md|a/x[.]md)\n|A[*].md\n|word ){0,6}".prop_map(String::into_bytes),
        1 => "---\n(globs|paths): (x|[*][.]rs|\\[)\n---\n[a-z]{0,9}".prop_map(String::into_bytes),
        1 => Just(b"\xFF\xFEa\0b\0".to_vec()),
        2 => (1..2_500usize).prop_map(|n_lines| "A line of sixteen\n".repeat(n_lines).into_bytes()),
        1 => (1..2_000usize).prop_map(|n_lines| "</instructions>\n".repeat(n_lines).into_bytes()),
    ];
    let target = prop::sample::select(&["AGENTS.md", "/r/AGENTS.md", "../AGENTS.md", "/t/CLAUDE.md", "nowhere", "/r"]);
    prop_oneof![
        8 => text.prop_map(Thing::File),
        1 => (0..100_000u64).prop_map(Thing::Sparse),
        1 => Just(Thing::Folder),
        1 => Just(Thing::Other),
        2 => target.prop_map(Thing::Link),
        1 => Just(Thing::Vanishing),
        1 => Just(Thing::DeniedRead),
        1 => Just(Thing::DeniedProbe),
        1 => Just(Thing::BrokenProbe),
    ]
}

type Tree = BTreeMap<(usize, usize), Thing>;

fn build(tree: &Tree) -> MemoryFs {
    let mut fs = MemoryFs::new();
    for folder in FOLDERS {
        fs = fs.with_folder(folder);
    }
    for ((folder, name), thing) in tree {
        let path = std::path::Path::new(FOLDERS[*folder]).join(NAMES[*name]);
        fs = match thing.clone() {
            Thing::File(bytes) => fs.with_file(path, bytes),
            Thing::Sparse(size) => fs.with_sparse_file(path, size),
            Thing::Folder => fs.with_folder(path),
            Thing::Other => fs.with_other(path),
            Thing::Link(target) => fs.with_link(path, target),
            Thing::Vanishing => fs.with_vanishing(path),
            Thing::DeniedRead => {
                fs.with_file(path.clone(), "x").failing_read(path, std::io::ErrorKind::PermissionDenied)
            }
            Thing::DeniedProbe => fs.with_file(path.clone(), "x").denying(path),
            Thing::BrokenProbe => fs.with_file(path.clone(), "x").failing_probe(path, std::io::ErrorKind::TimedOut),
        };
    }
    fs
}

fn discovery() -> impl Strategy<Value = Discovery> {
    let names =
        prop::collection::vec(prop::sample::select(&["CLAUDE.md", "AGENTS.md", "a/AGENTS.md", "../x", ""]), 0..3);
    let markers = prop::collection::vec(prop::sample::select(&[".git", ".root", "AGENTS.md", "a/.git"]), 0..3);
    let limits =
        (prop::sample::select(&[0, 1, 7, 100, 32_768]), prop::option::of(prop::sample::select(&[0, 5, 32_768])));
    let no_root = prop::sample::select(&["", "/", "/r", "/elsewhere"]);
    let policies = (
        any::<bool>(),
        prop::sample::select(&[SymlinkPolicy::Follow, SymlinkPolicy::WithinRoot, SymlinkPolicy::Reject]),
        prop::sample::select(&[BudgetOrder::NearestFirst, BudgetOrder::RootFirst]),
        prop::sample::select(&[Newlines::Keep, Newlines::Normalize]),
        prop::sample::select(&[
            Strictness::BestEffort,
            Strictness::BestEffort,
            Strictness::BestEffort,
            Strictness::Strict,
        ]),
    );
    (names, markers, limits, no_root, policies, options()).prop_map(
        |(
            names,
            markers,
            (max_bytes, max_user_bytes),
            no_root,
            (is_codex, symlinks, order, newlines, strictness),
            options,
        )| {
            let mut discovery = if is_codex { Discovery::codex() } else { Discovery::default() };
            discovery.fallback_names = names.into_iter().map(str::to_owned).collect();
            discovery.root_markers = markers.into_iter().map(str::to_owned).collect();
            discovery.max_bytes = max_bytes;
            discovery.max_user_bytes = max_user_bytes;
            if !no_root.is_empty() {
                discovery.no_root = NoRoot::WalkTo(no_root.into());
            }
            (discovery.symlinks, discovery.order) = (symlinks, order);
            (discovery.newlines, discovery.strictness) = (newlines, strictness);
            options.apply(&mut discovery);
            discovery
        },
    )
}

/// What is off by default.
#[derive(Clone, Debug)]
struct Options {
    is_outermost: bool,
    has_overlays: bool,
    also: Vec<NameSet>,
    imports: Option<(usize, usize, usize)>,
    is_scoped: bool,
    is_ignoring: bool,
}

impl Options {
    fn apply(self, discovery: &mut Discovery) {
        discovery.root = if self.is_outermost { RootChoice::Outermost } else { RootChoice::Nearest };
        discovery.overlays = if self.has_overlays { Overlays::Local } else { Overlays::Off };
        discovery.also = self.also;
        discovery.imports = self.imports.map(|(max_depth, max_files, max_bytes)| {
            let mut imports = Imports::default();
            (imports.max_depth, imports.max_files, imports.max_bytes) = (max_depth, max_files, max_bytes);
            imports
        });
        #[cfg(feature = "globs")]
        if self.is_scoped {
            discovery.scoping = agents_md::Scoping::FrontMatter;
        }
        #[cfg(feature = "gitignore")]
        if self.is_ignoring {
            discovery.ignores = agents_md::Ignores::GitIgnore;
        }
        #[cfg(not(all(feature = "globs", feature = "gitignore")))]
        let _: (bool, bool) = (self.is_scoped, self.is_ignoring);
    }
}

fn options() -> impl Strategy<Value = Options> {
    let sets = [NameSet::Claude, NameSet::Custom(vec!["a/AGENTS.md".into(), ".gitignore".into(), "../x".into()])];
    let also = prop::collection::vec(prop::sample::select(sets.to_vec()), 0..3);
    let imports = prop::option::of((0..4usize, 0..5usize, prop::sample::select(&[0, 20, 32_768])));
    (prop::array::uniform4(any::<bool>()), also, imports).prop_map(
        |([is_outermost, has_overlays, is_scoped, is_ignoring], also, imports)| Options {
            is_outermost,
            has_overlays,
            also,
            imports,
            is_scoped,
            is_ignoring,
        },
    )
}

fn inputs() -> impl Strategy<Value = Inputs> {
    let cwds = prop::collection::vec((prop::sample::select(&FOLDERS), prop::bool::weighted(0.1)), 0..4);
    let user = prop_oneof![
        Just(UserSource::Absent),
        prop::sample::select(&FOLDERS).prop_map(|folder| UserSource::Folder(folder.into())),
        (0..50_000usize).prop_map(|n| UserSource::Given { text: "u".repeat(n).into(), source: None }),
    ];
    let thread = prop::option::of(0..40_001usize);
    let trust =
        prop::sample::select(&[TrustLevel::Trusted, TrustLevel::Unknown, TrustLevel::Unknown, TrustLevel::Untrusted]);
    (cwds, user, thread, trust, prop::option::of(0..30_000usize)).prop_map(|(cwds, user, thread, trust, internal)| {
        let selections = cwds.into_iter().enumerate().map(|(index, (cwd, is_restricted))| {
            let selection = TurnEnvironmentSelection::new(format!("e{index}"), cwd);
            if is_restricted { selection.restricted() } else { selection }
        });
        let mut inputs = Inputs::new(selections.collect::<Vec<_>>()).with_user(user).with_trust(trust);
        if let Some(n) = thread {
            inputs = inputs.with_thread(ThreadInstructions::new("t\n".repeat(n / 2)).unwrap());
        }
        match internal {
            Some(n) => inputs.with_internal("i".repeat(n)),
            None => inputs,
        }
    })
}

/// Answers whole batches, as a driver over a wire does.
fn discover_in_batches(
    discovery: &Discovery,
    inputs: &Inputs,
    fs: &MemoryFs,
) -> Result<(LoadedAgentsMd, usize), agents_md::Error> {
    let mut step = Plan::start(discovery, inputs)?;
    let mut n_trips = 0;
    loop {
        n_trips += 1;
        step = match step {
            Step::Probe(round) => {
                let answers = round.asks().iter().map(|ask| fs.probe(ask).0).collect();
                round.answer(answers)?
            }
            Step::Read(round) => {
                let answers = round.asks().iter().map(|ask| fs.read(ask, None)).collect();
                round.answer(answers)?
            }
            Step::Done(loaded) => return Ok((*loaded, n_trips - 1)),
        };
    }
}

/// Every probed path has one row and every row with a path was probed; what is loaded has a row that says so.
fn check_explained(loaded: &LoadedAgentsMd, fs: &MemoryFs) -> Result<(), TestCaseError> {
    let mut rows: BTreeMap<(Option<String>, String), usize> = BTreeMap::new();
    for row in loaded.trace().rows() {
        let Some(path) = &row.path else {
            continue;
        };
        let environment = match &row.scope {
            Scope::Project { environment, .. } => Some(environment.to_string()),
            _ => None,
        };
        *rows.entry((environment, path.display().to_string())).or_default() += 1;
    }
    let mut probed: BTreeMap<(Option<String>, String), usize> = BTreeMap::new();
    for access in fs.accesses().into_iter().filter(|access| access.op == Operation::Probe) {
        *probed.entry((access.environment, access.path.display().to_string())).or_default() += 1;
    }
    prop_assert_eq!(&rows, &probed);
    prop_assert!(rows.values().all(|&n_rows| n_rows == 1));

    let mut n_loaded = 0;
    for row in loaded.trace().rows() {
        prop_assert!(!row.to_string().is_empty() && !row.to_string().contains('\n'));
        if let (Scope::Project { .. }, true) = (&row.scope, row.outcome.is_loaded()) {
            n_loaded += 1;
        }
    }
    let mut n_entries = 0;
    for entry in loaded.entries() {
        if let InstructionProvenance::Project { source_path, environment_id, .. } = entry.provenance() {
            n_entries += 1;
            let outcome = loaded.trace().outcome(environment_id, source_path);
            prop_assert!(outcome.is_some_and(Outcome::is_loaded), "{outcome:?}");
        }
    }
    prop_assert_eq!(n_loaded, n_entries);
    Ok(())
}

proptest! {
    #![proptest_config(at_least(500))]

    #[test]
    fn law_9_absence_is_explained(
        tree in prop::collection::btree_map((0..FOLDERS.len(), 0..NAMES.len()), thing(), 0..16),
        discovery in discovery(),
        inputs in inputs(),
    ) {
        let (one_by_one, in_batches) = (build(&tree), build(&tree));
        let loaded = discover_blocking(&discovery, &inputs, &one_by_one);
        let batched = discover_in_batches(&discovery, &inputs, &in_batches);
        let (loaded, batched) = match (loaded, batched) {
            (Ok(loaded), Ok((batched, n_trips))) => {
                prop_assert!(n_trips <= 3 + 2 * discovery.imports.map_or(0, |imports| imports.max_depth));
                (loaded, batched)
            }
            (Err(loaded), Err(batched)) => {
                prop_assert_eq!(loaded, batched);
                return Ok(());
            }
            (loaded, batched) => return Err(TestCaseError::fail(format!("{loaded:?}\n{batched:?}"))),
        };
        check_explained(&loaded, &one_by_one)?;
        check_explained(&batched, &in_batches)?;
        prop_assert_eq!(loaded.text(), batched.text());
        prop_assert_eq!(loaded.entries(), batched.entries());
    }

    /// In the default preset the message is never cut by rendering, whatever is put into it.
    #[test]
    fn law_5_bounded(
        tree in prop::collection::btree_map((0..FOLDERS.len(), 0..NAMES.len()), thing(), 0..16),
        inputs in inputs(),
        order in prop::sample::select(&[BudgetOrder::NearestFirst, BudgetOrder::RootFirst]),
    ) {
        let mut discovery = Discovery::default();
        discovery.order = order;
        let Ok(loaded) = discover_blocking(&discovery, &inputs, &build(&tree)) else {
            return Ok(());
        };
        if let Some(fragment) = loaded.fragment() {
            let rendered = fragment.render().unwrap();
            prop_assert_eq!(&rendered.report().cut, &None);
            prop_assert!(rendered.text().len() <= Bound::FRAGMENT.max_bytes());
        }
    }
}

/// As many cases as asked for with `PROPTEST_CASES`, and never fewer than `cases`.
fn at_least(cases: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig { cases: asked.cases.max(cases), failure_persistence: None, ..asked }
}
