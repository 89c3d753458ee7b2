//! Real processes: locks, kills, a full disk.
//!
//! A child is this test program again, running one of the ignored tests below; it takes its folder from its input.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
};

use session::{
    Error,
    rollout::{CutBack, Draft, Durability, Owner, RawJson, RolloutItem, SessionFolder, SessionMeta},
};

use crate::{
    child::{input, say},
    sample::{AT_MS, file_bytes, read},
};

fn owner() -> Owner {
    Owner::this_process("build-7", AT_MS)
}

fn item(text: &str) -> Draft {
    RolloutItem::Usage(RawJson::string(text)).into()
}

#[test]
#[ignore = "run as a child by the tests below"]
fn child_holds_the_log() {
    let folder = SessionFolder::new(input());
    let _opening = folder.open_writer(&owner(), Durability::Flush).unwrap();
    say("holding");
    input();
}

#[test]
#[ignore = "run as a child by the tests below"]
fn child_appends_and_waits_to_be_killed() {
    let folder = SessionFolder::new(input());
    let mut writer = folder.open_writer(&owner(), Durability::Flush).unwrap().writer;
    for number in 0..100 {
        let level = if number % 10 == 0 { Durability::DataSync } else { Durability::Flush };
        let appended = writer.append(AT_MS, &[item(&format!("kept {number}"))], level).unwrap();
        assert_eq!(appended.level, level);
    }
    say("acknowledged");
    input();
}

#[test]
#[ignore = "run as a child by the tests below"]
fn child_fills_the_disk() {
    let folder = SessionFolder::new(input());
    let mut writer = folder.create(&SessionMeta::new("s1"), &owner(), Durability::Flush).unwrap().writer;
    let big = "x".repeat(1_000);
    let mut written = 0;
    let error = loop {
        match writer.append(AT_MS, &[item(&big), item(&big), item(&big)], Durability::Flush) {
            Ok(_) => written += 3,
            Err(error) => break error,
        }
    };
    let Error::Append { cut_back, source, .. } = &error else { panic!("{error}") };
    assert!(matches!(cut_back, CutBack::Done | CutBack::NothingWritten), "{error}");
    let (lines, report) = read(&file_bytes(&folder.log_path()));
    assert!(report.is_clean(), "{:?}", report.findings);
    assert_eq!(lines.len(), written + 2);
    say(&format!("{written} records, then {:?}", source.kind()));
    input();
    // There is room again.
    assert_eq!(writer.append(AT_MS, &[item("small")], Durability::DataSync).unwrap().first, lines.len() as u64);
    let (lines, report) = read(&file_bytes(&folder.log_path()));
    assert!(report.is_clean() && lines.len() == written + 3);
    say("recovered");
}

/// Starts one of the tests above with `folder` as its first line of input, and gives what it says first.
fn start(mut command: Command, test: &str, folder: &Path) -> (Child, BufReader<std::process::ChildStdout>, String) {
    command.args(["--exact", &format!("process::{test}"), "--ignored", "--nocapture", "--test-threads=1"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{}", folder.display()).unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let said = hear(&mut out);
    (child, out, said)
}

fn hear(out: &mut BufReader<std::process::ChildStdout>) -> String {
    for line in out.lines().map(Result::unwrap) {
        if let Some((_, word)) = line.split_once("child: ") {
            return word.to_owned();
        }
    }
    panic!("the child ended without a word");
}

fn this_program() -> Command {
    Command::new(std::env::current_exe().unwrap())
}

fn made_log() -> (tempfile::TempDir, SessionFolder) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(temporary.path().join("s1"));
    folder.create(&SessionMeta::new("s1"), &owner(), Durability::Flush).unwrap();
    (temporary, folder)
}

#[test]
fn s14_a_second_writer_is_told_who_holds_the_log_and_a_killed_one_holds_nothing() {
    let (_temporary, folder) = made_log();
    let (mut child, _out, said) = start(this_program(), "child_holds_the_log", folder.path());
    assert_eq!(said, "holding");
    let error = folder.open_writer(&owner(), Durability::Flush).unwrap_err();
    let Error::Busy { pid, host, since, .. } = &error else { panic!("{error}") };
    assert_eq!(*pid, Some(child.id()));
    assert_eq!((host.as_deref(), since.as_deref()), (Some("build-7"), Some("2026-10-20T08:00:00.123Z")));
    let in_words = format!("is in use by process {} on build-7 since 2026-10-20T08:00:00.123Z", child.id());
    assert!(error.to_string().ends_with(&in_words), "{error}");
    let error = folder.create(&SessionMeta::new("s2"), &owner(), Durability::Flush).unwrap_err();
    assert!(error.is_busy(), "{error}");
    // Readers need no lock.
    assert_eq!(folder.events().unwrap().count(), 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let opening = folder.open_writer(&owner(), Durability::Flush).unwrap();
    assert_eq!(opening.appended.first, 3);
    drop(opening);
    // Given back in order, the lock says nothing of its last holder.
    assert!(file_bytes(&folder.lock_path()).is_empty());
}

/// What was acknowledged survives the end of the process at both levels. That `DataSync` survives a loss of power cannot
/// be shown by a test on a running machine; `writer.rs` shows that the level is claimed only after a sync of every byte.
#[test]
fn s15_what_was_acknowledged_survives_a_kill() {
    let (_temporary, folder) = made_log();
    let (mut child, _out, said) = start(this_program(), "child_appends_and_waits_to_be_killed", folder.path());
    assert_eq!(said, "acknowledged");
    child.kill().unwrap();
    child.wait().unwrap();
    let (lines, report) = read(&file_bytes(&folder.log_path()));
    assert!(report.is_clean(), "{:?}", report.findings);
    let kept = lines.iter().filter(|line| line.text().contains("kept")).count();
    assert_eq!((kept, lines.len()), (100, 103));
    assert_eq!(folder.open_writer(&owner(), Durability::Flush).unwrap().appended.first, 103);
}

/// A real limit of the system on the size of files; the signal that comes with it is ignored by the shell.
#[cfg(unix)]
#[test]
fn a_write_that_the_system_refuses_leaves_whole_records() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("s1");
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 32; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    let (mut child, mut out, said) = start(shell, "child_fills_the_disk", &folder);
    assert!(said.ends_with("records, then FileTooLarge"), "{said}");
    // The record after the failure is small enough for the rest of the limit.
    writeln!(child.stdin.as_mut().unwrap()).unwrap();
    assert_eq!(hear(&mut out), "recovered");
    assert!(child.wait().unwrap().success());
}

/// A real full disk, where the test may mount one: in a name space of its own that ends with the child.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_whole_records() {
    let temporary = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=64k none \"$0\"";
    let may_mount = Command::new("unshare").args(["-m", "sh", "-c", mount]).arg(temporary.path()).status();
    let mut shell = match may_mount {
        Ok(status) if status.success() => {
            let mut shell = Command::new("unshare");
            shell.args(["-m", "sh", "-c", &format!("{mount} && shift 0 && exec \"$@\"")]).arg(temporary.path());
            shell
        }
        // Without the right to mount, the limit on the size of files stands for the full disk.
        _ => {
            let mut shell = Command::new("sh");
            shell.args(["-c", "trap '' XFSZ; ulimit -f 32; exec \"$@\"", "sh"]);
            shell
        }
    };
    shell.arg(std::env::current_exe().unwrap());
    let (mut child, mut out, said) = start(shell, "child_fills_the_disk", &temporary.path().join("s1"));
    assert!(said.contains("records, then StorageFull") || said.contains("records, then FileTooLarge"), "{said}");
    writeln!(child.stdin.as_mut().unwrap()).unwrap();
    assert_eq!(hear(&mut out), "recovered");
    assert!(child.wait().unwrap().success());
}
