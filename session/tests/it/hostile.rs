//! Logs that somebody made to break a reader: each ends in an answer or in a typed error, never in a panic.

use std::{fs, path::Path};

use context_fragments::WireItem;
use context_manager::ByteBudget;
use session::{
    Compaction, CompactionTrigger, Error, Fork, Session, SessionOptions, Summarizer, Summary, SummaryError,
    SummaryRequest, UserInput,
    foreign::{Import, export, import},
    rollout::{EditedRecords, Owner, SessionFolder, fsck, repair, salvage, stats},
};

use crate::{
    resume::{Desk, entries},
    sample::{AT_MS, file_bytes},
    stage::{call, options, project, send},
};

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

struct Short;

#[async_trait::async_trait]
impl Summarizer for Short {
    async fn summarize(&self, _: SummaryRequest) -> Result<Summary, SummaryError> {
        Ok(Summary::Text("Short.".into()))
    }
}

fn host(desk: &Desk) -> SessionOptions {
    options(&desk.disk).with_min_blob_bytes(512)
}

/// A log with a bit of everything: blobs, calls, facts, a switch, a rollback, a compaction, and a turn that is live.
async fn model_log(desk: &Desk) {
    let session = Session::create(&desk.folder, crate::stage::new_session(), host(desk)).await.unwrap();
    for said in ["one", "two", "three"] {
        let image = format!("data:image/png;base64,{}", said.repeat(500));
        let turn = session.begin_turn(UserInput::text(said).with_image(image, "auto")).unwrap();
        turn.touch("web/index.ts");
        let step = turn.next_step().await.unwrap();
        turn.mark_sent(&step).await.unwrap();
        turn.record([call("c1"), call("c2")]).await.unwrap();
        let calls = turn.open_calls();
        turn.start_call(&calls[0]).await.unwrap();
        turn.record_output(&calls[0], "line of output\n".repeat(200)).await.unwrap();
        turn.record_output(&calls[1], "ok").await.unwrap();
        turn.record([WireItem::assistant_text(said)]).await.unwrap();
        turn.finish().await.unwrap();
        if said == "one" {
            session.set_model("m2");
            session.compact(&Compaction::new(CompactionTrigger::Manual), &Short).await.unwrap();
        }
    }
    session.rollback(1).await.unwrap();
    session.elide_over(&ByteBudget::new(100).keeping_newest(0)).await.unwrap().unwrap();
    let turn = session.begin_turn(UserInput::text("four")).unwrap();
    let step = turn.next_step().await.unwrap();
    turn.mark_sent(&step).await.unwrap();
    turn.record([call("c3")]).await.unwrap();
    turn.record_partial_output(&turn.open_calls()[0], "half").await.unwrap();
    drop(turn);
    session.close().await.unwrap();
}

/// The line with a checksum that fits.
fn sealed(line: &str) -> String {
    let body = line.rfind(",\"crc\":").map_or(line, |at| &line[..at]);
    format!("{body},\"crc\":\"{:08x}\"}}", crc32c::crc32c(body.as_bytes()))
}

/// Puts another number or literal where one of the line's numbers stands.
fn with_other_number(line: &str, numbers: &mut Numbers) -> String {
    let bytes = line.as_bytes();
    let starts: Vec<usize> =
        (1..bytes.len()).filter(|at| bytes[*at].is_ascii_digit() && b":[,".contains(&bytes[*at - 1])).collect();
    if starts.is_empty() {
        return line.into();
    }
    let start = *numbers.of(&starts);
    let end = (start..bytes.len()).find(|at| !bytes[*at].is_ascii_digit()).unwrap_or(bytes.len());
    let others = [
        "0",
        "1",
        "7",
        "18446744073709551615",
        "18446744073709551614",
        "9223372036854775807",
        "9223372036854775808",
        "4294967296",
        "99999999999999999999999",
        "-1",
        "1e9",
        "null",
        "[]",
        "{}",
        "\"x\"",
    ];
    format!("{}{}{}", &line[..start], numbers.of(&others), &line[end..])
}

/// What stands behind `"payload":`, without the checksum.
fn payload_of(line: &str) -> Option<(usize, usize)> {
    let start = line.find("\"payload\":")? + "\"payload\":".len();
    let end = line.rfind(",\"crc\":")?;
    (start < end).then_some((start, end))
}

fn mutate(log: &str, numbers: &mut Numbers) -> Vec<u8> {
    let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
    for _ in 0..=numbers.below(3) {
        let (one, other) = (numbers.below(lines.len()), numbers.below(lines.len()));
        match numbers.below(12) {
            0..=4 => {
                let changed = with_other_number(&lines[one], numbers);
                lines[one] = if numbers.below(5) == 0 { changed } else { sealed(&changed) };
            }
            5 => lines.swap(one, other),
            6 => {
                let copy = lines[one].clone();
                lines.insert(other, copy);
            }
            7 => drop(lines.remove(one)),
            8 => {
                if let (Some(into), Some(from)) = (payload_of(&lines[one]), payload_of(&lines[other])) {
                    let payload = lines[other][from.0..from.1].to_owned();
                    let mut line = lines[one].clone();
                    line.replace_range(into.0..into.1, &payload);
                    lines[one] = sealed(&line);
                }
            }
            9 => {
                // Another checkpoint of the same log at the end.
                if let Some(checkpoint) = lines.iter().find(|line| line.contains("\"type\":\"checkpoint\"")) {
                    let copy = checkpoint.clone();
                    lines.push(copy);
                }
            }
            10 => {
                let mut bytes = lines[one].clone().into_bytes();
                let at = numbers.below(bytes.len());
                bytes[at] = b' ' + u8::try_from(numbers.below(94)).unwrap();
                let line = String::from_utf8_lossy(&bytes).into_owned();
                lines[one] = if numbers.below(2) == 0 { line } else { sealed(&line) };
            }
            _ => {
                let noise = (0..numbers.below(300)).map(|_| char::from(u8::try_from(numbers.below(256)).unwrap()));
                let noise: String = noise.collect();
                lines.insert(one, noise);
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    (lines.join("\n") + "\n").into_bytes()
}

fn spoil_blobs(folder: &SessionFolder, numbers: &mut Numbers) {
    let mut blobs: Vec<_> = fs::read_dir(folder.blobs_path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    blobs.sort();
    let blob = numbers.of(&blobs).clone();
    let other = numbers.of(&blobs).clone();
    fs::remove_file(&blob).unwrap();
    match numbers.below(5) {
        0 => {}
        1 if other != blob => drop(fs::copy(&other, &blob).unwrap()),
        2 => fs::create_dir(&blob).unwrap(),
        #[cfg(unix)]
        3 => std::os::unix::fs::symlink("/dev/zero", &blob).unwrap(),
        _ => fs::write(&blob, "x").unwrap(),
    }
}

fn copy(from: &SessionFolder, to: &SessionFolder) {
    fs::create_dir_all(to.blobs_path()).unwrap();
    fs::copy(from.log_path(), to.log_path()).unwrap();
    for entry in fs::read_dir(from.blobs_path()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.blobs_path().join(entry.file_name())).unwrap();
    }
}

/// A panic on a thread that writes is told as this error.
#[track_caller]
fn sane<T>(result: Result<T, Error>, what: &str) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::WriterStopped { .. }) => panic!("{what}: a thread panicked"),
        Err(error) => {
            let told = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
            assert!(told.map(ToString::to_string).all(|words| !words.is_empty()), "{what}");
            None
        }
    }
}

/// Goes on with a log as far as it goes. What was gone on with is resumed as it stood.
async fn go_on(desk: &Desk, folder: &SessionFolder, root: &Path, what: &str) -> bool {
    let Some(resumed) = sane(Session::resume(folder, host(desk)).await, what) else { return false };
    let session = resumed.session;
    let turn = sane(session.begin_turn(UserInput::text("go on")), what).unwrap();
    if let Some(step) = sane(turn.next_step().await, what) {
        sane(turn.mark_sent(&step).await, what);
        sane(turn.record([WireItem::assistant_text("ok")]).await, what);
        sane(session.compact(&Compaction::new(CompactionTrigger::Overflow), &Short).await, what);
    }
    if sane(turn.finish().await, what).is_none() {
        return false;
    }
    sane(session.elide_over(&ByteBudget::new(100).keeping_newest(0)).await, what);
    sane(session.rollback(1).await, what);
    let child = SessionFolder::new(root.join("child"));
    if let Some(child) = sane(session.fork(&Fork::new("child"), &child, host(desk)).await, what) {
        sane(child.close().await, what);
    }
    let live = entries(&session);
    sane(session.close().await, what).unwrap();
    let resumed = Session::resume(folder, host(desk)).await;
    let resumed = resumed.unwrap_or_else(|error| panic!("{what}: it was gone on with and cannot be resumed: {error}"));
    assert_eq!(entries(&resumed.session), live, "{what}");
    true
}

async fn check(cases: u64, first: u64) -> (usize, usize) {
    let desk = Desk::new();
    desk.disk.becomes(project("Use tabs.").with_file("/r/web/AGENTS.md", "Use pixels."));
    model_log(&desk).await;
    let log = String::from_utf8(file_bytes(&desk.folder.log_path())).unwrap();
    assert!(log.matches("\"type\":\"checkpoint\"").count() == 2 && log.contains("\"blobs\":["), "{log}");
    let (mut resumed, mut repaired) = (0, 0);
    for seed in first..first + cases {
        let what = format!("seed {seed}");
        let mut numbers = Numbers(seed);
        let root = tempfile::tempdir().unwrap();
        let folder = SessionFolder::new(root.path().join("s"));
        copy(&desk.folder, &folder);
        fs::write(folder.log_path(), mutate(&log, &mut numbers)).unwrap();
        if numbers.below(4) == 0 {
            spoil_blobs(&folder, &mut numbers);
        }
        sane(fsck(folder.path(), &mut |_| ()), &what);
        sane(stats(folder.path(), &mut |_| ()), &what);
        sane(salvage(folder.path(), &mut Vec::new(), &mut |_| ()), &what);
        sane(folder.events().and_then(|events| export(events, &mut Vec::new())), &what);
        let mended = SessionFolder::new(root.path().join("mended"));
        let owner = Owner::this_process("here", AT_MS);
        let done = repair(folder.path(), &mended, &owner, EditedRecords::LeaveOut, &mut |_| ());
        if sane(done, &what).is_some() {
            let checked = fsck(mended.path(), &mut |_| ()).unwrap();
            assert!(checked.is_sound(), "{what}: {:?} {:?}", checked.report.findings, checked.blobs);
            let root = tempfile::tempdir().unwrap();
            repaired += usize::from(go_on(&desk, &mended, root.path(), &what).await);
        }
        resumed += usize::from(go_on(&desk, &folder, root.path(), &what).await);
    }
    (resumed, repaired)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_log_breaks_a_reader() {
    let (resumed, repaired) = check(60, 1).await;
    assert!(resumed > 5 && repaired > 10, "{resumed} resumed, {repaired} repaired and resumed");
}

/// Numbers at the end of their range, in lines whose checksum fits.
#[tokio::test]
async fn numbers_that_leave_no_room_are_refused_by_name_and_counted_without_overflow() {
    let desk = Desk::new();
    model_log(&desk).await;
    let log = String::from_utf8(file_bytes(&desk.folder.log_path())).unwrap();
    let max = u64::MAX.to_string();
    let with = |start: &str, line_has: &str, which: fn(&[usize]) -> usize| {
        let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
        let places: Vec<usize> =
            (0..lines.len()).filter(|at| lines[*at].contains(line_has) && lines[*at].contains(start)).collect();
        let line = &mut lines[which(&places)];
        let from = line.find(start).unwrap() + start.len();
        let to = from + line[from..].find(|letter: char| !letter.is_ascii_digit()).unwrap();
        line.replace_range(from..to, &max);
        *line = sealed(line);
        lines.join("\n") + "\n"
    };
    let last = |places: &[usize]| *places.last().unwrap();
    let first = |places: &[usize]| places[0];
    let cases = [
        (with("\"ordinal\":", "", last), "the last ordinal: expected one that leaves room for others"),
        (with("\"position\":", "\"type\":\"item\"", last), "its position leaves no room for others"),
        (with("\"epoch\":", "\"type\":\"checkpoint\"", last), "a number in it leaves no room for others"),
        (with("\"next_position\":", "\"type\":\"checkpoint\"", last), "a number in it leaves no room for others"),
        (with("\"history_version\":", "\"type\":\"checkpoint\"", last), "a number in it leaves no room for others"),
    ];
    for (text, words) in cases {
        fs::write(desk.folder.log_path(), &text).unwrap();
        let error = Session::resume(&desk.folder, host(&desk)).await.unwrap_err();
        let told = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
        let told: Vec<String> = told.map(ToString::to_string).collect();
        assert!(told.iter().any(|told| told.contains(words)), "{words}: {told:?}");
        assert_eq!(file_bytes(&desk.folder.log_path()), text.as_bytes(), "nothing was written: {words}");
    }
    // A blob that claims any length is counted and never asked for.
    let text = with("\"len\":", "\"blobs\":[", first);
    fs::write(desk.folder.log_path(), text).unwrap();
    let counted = stats(desk.folder.path(), &mut |_| ()).unwrap();
    assert_eq!(counted.blob_bytes, u64::MAX);
    assert!(!fsck(desk.folder.path(), &mut |_| ()).unwrap().blobs.is_empty());
    // What is not what its type says does not get into a repaired log.
    let text = log.replace("\"position\":4,", "\"position\":\"4\",").lines().map(sealed).collect::<Vec<_>>().join("\n");
    fs::write(desk.folder.log_path(), text).unwrap();
    let root = tempfile::tempdir().unwrap();
    let mended = SessionFolder::new(root.path().join("mended"));
    let owner = Owner::this_process("here", AT_MS);
    let done = repair(desk.folder.path(), &mended, &owner, EditedRecords::LeaveOut, &mut |_| ()).unwrap();
    assert!(done.left_out.iter().any(|left| left.reason == "it is not what its type says"), "{:?}", done.left_out);
    assert!(fsck(mended.path(), &mut |_| ()).unwrap().is_sound());
}

#[test]
fn no_rollout_breaks_the_import() {
    let logs = [
        include_str!("../data/codex-0.58.jsonl"),
        include_str!("../data/codex-0.144.jsonl"),
        include_str!("../data/codex-0.153.jsonl"),
    ];
    let mut taken = 0;
    for seed in 1..120 {
        let what = format!("seed {seed}");
        let mut numbers = Numbers(seed);
        let log: &str = logs[numbers.below(logs.len())];
        let log = mutate(log, &mut numbers);
        // A foreign line has no checksum, so none is left behind.
        let log = String::from_utf8_lossy(&log)
            .lines()
            .map(|line| {
                line.rfind(",\"crc\":\"")
                    .map_or_else(|| line.to_owned(), |at| format!("{}}}", line[..at].trim_end_matches('}')))
            })
            .collect::<Vec<_>>()
            .join("\n");
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("rollout.jsonl");
        fs::write(&path, log).unwrap();
        let folder = SessionFolder::new(root.path().join("s"));
        let done = import(&path, &folder, &Import::new(Owner::this_process("here", AT_MS), AT_MS));
        if sane(done, &what).is_some() {
            assert!(fsck(folder.path(), &mut |_| ()).unwrap().is_sound(), "{what}");
            sane(folder.events().and_then(|events| export(events, &mut Vec::new())), &what).unwrap();
            taken += 1;
        }
    }
    assert!(taken > 60, "{taken}");
}

/// A folder that cannot be written to can be read, and says what is wrong.
#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_cannot_be_written_to_is_read_and_not_resumed() {
    use std::os::unix::fs::PermissionsExt as _;

    let desk = Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    drop(turn);
    session.close().await.unwrap();
    let before = file_bytes(&desk.folder.log_path());
    let rights = |file: u32, folder: u32| {
        fs::set_permissions(desk.folder.log_path(), fs::Permissions::from_mode(file)).unwrap();
        fs::set_permissions(desk.folder.lock_path(), fs::Permissions::from_mode(file)).unwrap();
        fs::set_permissions(desk.folder.path(), fs::Permissions::from_mode(folder)).unwrap();
    };
    rights(0o400, 0o500);
    let is_superuser = fs::OpenOptions::new().append(true).open(desk.folder.log_path()).is_ok();
    assert!(fsck(desk.folder.path(), &mut |_| ()).unwrap().is_sound());
    assert!(desk.folder.events().unwrap().count() > 3);
    if !is_superuser {
        // The superuser writes everywhere.
        let error = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error}");
        assert_eq!(file_bytes(&desk.folder.log_path()), before);
    }
    rights(0o600, 0o700);
    Session::resume(&desk.folder, options(&desk.disk)).await.unwrap();
}
