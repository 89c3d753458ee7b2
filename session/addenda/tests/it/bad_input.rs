//! Bad input is one clear line, exit status 2, and nothing on standard output.

use insta::assert_snapshot;

use crate::setup::Tree;

#[test]
fn each_bad_input_is_named_in_one_line() {
    let tree =
        Tree::new().folder("r/.git").file("file", "x").file("other", r#"{"snapshot":{"a":null},"retained_kinds":[]}"#);
    let path = |inner: &str| tree.path(inner).to_str().unwrap().to_owned();
    let (missing, file) = (path("missing"), path("file"));
    let (mode, other, unwritable) = (format!("plan={missing}"), path("other"), path("missing/state"));
    let cases: &[&[&str]] = &[
        &["prompt-input", "x", "--cwd", &missing],
        &["prompt-input", "x", "--cwd", &file],
        &["prompt-input", "x", "--cwd", "no/such"],
        &["prompt-input", "x", "--home", &missing],
        &["prompt-input", "x", "--home", &file],
        &["prompt-input", "x", "--sandbox", "none"],
        &["prompt-input", "x", "--approval", "ask"],
        &["prompt-input", "x", "--preset", "other"],
        &["prompt-input", "x", "--date", "2026-02-30"],
        &["prompt-input", "x", "--date", "yesterday"],
        &["prompt-input", "x", "--timezone", "Mars/Olympus"],
        &["prompt-input", "--approved-prefix", " "],
        &["prompt-input", "--mode", "=words"],
        &["prompt-input", "--mode", &mode],
        &["prompt-input", "--env", "remote"],
        &["prompt-input", "--env", "=/r"],
        &["prompt-input", "--env", "a=/r", "--env", "a=/s"],
        &["prompt-input", "--env", "local=/r"],
        &["prompt-input", "--since", &missing],
        &["prompt-input", "--since", &file],
        &["prompt-input", "--since", &other],
        &["prompt-input", "--save-state", &unwritable],
        &["prompt-input", "x", "y"],
        &["prompt-input", "--colour"],
        &["instructions", &missing],
        &["instructions", "--home", &file],
        &["prompt-input", "x", "--cwd", "a\n\n\u{1b}[31mb"],
        &["prompt-input", "x", "--sandbox", "a\n\n\u{1b}[31mb"],
        &["prompt-input", "x", "a\n\nb"],
        &["prompt-input", "x", "--shell", ""],
        &["prompt-input", "x", "--model", ""],
        &["prompt-input", "x", "--timezone", ""],
        &["prompt-input", "x", "--cwd", ""],
        &["explain"],
        &[],
    ];
    let lines: Vec<_> = cases.iter().map(|args| tree.run("r", args).refused()).collect();
    assert_snapshot!(lines.join("\n"), @r"
    addenda: no such directory: /t/missing
    addenda: not a directory: /t/file
    addenda: no such directory: no/such
    addenda: no such directory: /t/missing
    addenda: not a directory: /t/file
    addenda: invalid value 'none' for '--sandbox <MODE>': unknown sandbox mode `none`, expected one of read-only, workspace-write, danger-full-access
    addenda: invalid value 'ask' for '--approval <P>': unknown approval policy `ask`, expected one of untrusted, on-failure, on-request, never
    addenda: invalid value 'other' for '--preset <PRESET>' [possible values: default, codex]
    addenda: invalid value '2026-02-30' for '--date <YYYY-MM-DD>': not a day of the calendar, written YYYY-MM-DD
    addenda: invalid value 'yesterday' for '--date <YYYY-MM-DD>': not a day of the calendar, written YYYY-MM-DD
    addenda: unknown time zone `Mars/Olympus` for '--timezone <TZ>'
    addenda: invalid value ' ' for '--approved-prefix <WORDS>': no words
    addenda: invalid value '=words' for '--mode <NAME[=FILE]>': not written NAME or NAME=FILE
    addenda: cannot read instructions: /t/missing: No such file or directory (os error 2)
    addenda: invalid value 'remote' for '--env <ID=DIR>': not written ID=DIR
    addenda: invalid value '=/r' for '--env <ID=DIR>': not written ID=DIR
    addenda: two environments are called `a`
    addenda: two environments are called `local`
    addenda: cannot read state: /t/missing: No such file or directory (os error 2)
    addenda: not a saved state: /t/file: expected value at line 1 column 1
    addenda: not a saved state: /t/other: the state of section `a` is null, which a merge patch cannot say at line 1 column 22
    addenda: cannot save state: /t/missing/state: No such file or directory (os error 2)
    addenda: unexpected argument 'y' found
    addenda: unexpected argument '--colour' found
    addenda: no such directory: /t/missing
    addenda: not a directory: /t/file
    addenda: no such directory: a\n\n\u{1b}[31mb
    addenda: invalid value 'a\n\n\u{1b}[31mb' for '--sandbox <MODE>': unknown sandbox mode `a\n\n\u{1b}[31mb`, expected one of read-only, workspace-write, danger-full-access
    addenda: unexpected argument 'a\n\nb' found
    addenda: a value is required for '--shell <S>' but none was supplied
    addenda: a value is required for '--model <M>' but none was supplied
    addenda: unknown time zone `` for '--timezone <TZ>'
    addenda: a value is required for '--cwd <DIR>' but none was supplied
    addenda: unrecognized subcommand 'explain'
    addenda: no verb given, try `addenda --help`
    ");
}

#[cfg(unix)]
#[test]
fn a_file_that_never_ends_is_refused() {
    let tree = Tree::new().folder("r/.git").file("latin", b"caf\xe9");
    for (option, value, what) in
        [("--since", "/dev/zero", "state: /dev/zero"), ("--mode", "plan=/dev/zero", "instructions: /dev/zero")]
    {
        let want = format!("addenda: cannot read {what}: larger than 16777216 bytes");
        assert_eq!(tree.run("r", &["prompt-input", option, value]).refused(), want);
    }
    let latin = format!("plan={}", tree.path("latin").display());
    let refused = tree.run("r", &["prompt-input", "--mode", &latin]).refused();
    assert!(refused.starts_with("addenda: cannot read instructions: /t/latin: incomplete utf-8"), "{refused}");
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_utf8_is_named() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    let tree = Tree::new().folder("r/.git");
    let run = |args: &[&[u8]]| {
        let mut command = tree.command();
        command.args(args.iter().map(|arg| OsStr::from_bytes(arg))).current_dir(tree.path("r"));
        tree.ran(&command.output().unwrap())
    };
    assert_eq!(run(&[b"prompt-input", b"caf\xe9"]).refused(), "addenda: invalid UTF-8 in 'caf\u{fffd}'");
    assert_eq!(run(&[b"instructions", b"caf\xe9"]).refused(), "addenda: no such directory: caf\u{fffd}");
}

#[cfg(unix)]
#[test]
fn an_output_that_cannot_be_written_is_a_failure() {
    let tree = Tree::new().folder("r/.git");
    let onto = |path: &str, is_writable: bool| {
        let out = std::fs::OpenOptions::new().read(!is_writable).write(is_writable).open(path).unwrap();
        let mut command = tree.command();
        command.args(["prompt-input", "x"]).current_dir(tree.path("r")).stdout(out);
        tree.ran(&command.output().unwrap()).refused()
    };
    assert!(onto("/dev/null", false).starts_with("addenda: could not write to standard output: "));
    if std::path::Path::new("/dev/full").exists() {
        assert!(onto("/dev/full", true).starts_with("addenda: could not write to standard output: "));
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_is_named() {
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};

    let tree = Tree::new().folder("r/locked");
    for open in ["", "r"] {
        std::fs::set_permissions(tree.path(open), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::set_permissions(tree.path("r/locked"), std::fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = tree.command();
    command.args(["prompt-input", "x", "--cwd"]).arg(tree.path("r/locked")).current_dir("/");
    if std::fs::read_dir(tree.path("r/locked")).is_ok() {
        // The superuser reads everything, so the command runs as somebody else.
        command.uid(65534).gid(65534);
    }
    let ran = tree.ran(&command.output().unwrap());
    assert_eq!(ran.refused(), "addenda: cannot read directory: /t/r/locked: permission denied");
}

#[test]
fn a_usual_home_that_is_missing_is_no_fault_and_a_file_is() {
    let tree = Tree::new().folder("r/.git").file("file", "x");
    let with_home = |home: &str| {
        let mut command = tree.command();
        command.env("CODEX_HOME", tree.path(home)).args(["prompt-input", "x", "--wire"]).current_dir(tree.path("r"));
        tree.ran(&command.output().unwrap())
    };
    assert!(with_home("missing").good().contains("input_text"));
    assert_eq!(with_home("file").refused(), "addenda: not a directory: /t/file");
}

#[test]
fn help_and_version_are_answers() {
    let tree = Tree::new();
    assert!(tree.run("home", &["--help"]).good().contains("prompt-input"));
    assert!(tree.run("home", &["prompt-input", "--help"]).good().contains("--untrusted"));
    assert_eq!(tree.run("home", &["--version"]).good(), format!("addenda {}\n", env!("CARGO_PKG_VERSION")));
}

#[cfg(unix)]
#[test]
fn a_reader_that_stops_early_is_no_failure() {
    use std::process::Stdio;

    let tree = Tree::new().folder("r/.git").file("r/AGENTS.md", "x".repeat(30_000));
    let mut child = tree
        .command()
        .args(["prompt-input", "x"])
        .current_dir(tree.path("r"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}
