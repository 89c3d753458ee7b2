//! Processes that are killed inside of a compaction and inside of a fork.
//!
//! A child is this test program again, running one of the ignored tests below; it takes its folder from its input.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex},
};

use context_fragments::WireItem;
use context_manager::SUMMARY_KIND;
use session::{
    Compaction, CompactionTrigger, Error, Fork, Preset, Session, SessionOptions, Summarizer, Summary, SummaryError,
    SummaryRequest, UserInput,
    rollout::{Appended, Draft, Durability, EditedRecords, Owner, SessionFolder, Sha256, fsck, repair, salvage, stats},
    store::{Claim, Claimed, FsStore, Store},
};

use crate::{
    child::{input, say},
    sample::{AT_MS, file_bytes, read},
    stage::{Disk, call, new_session, options, send, short_item, stored},
};

/// Where the child stops, so that it can be killed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halt {
    /// While its summarizer waits for the model.
    Summarizing,
    /// Before a blob of the new window is written.
    BeforeBlob,
    /// Behind a blob, with the record that names it not written.
    BehindBlob,
    /// Before the records are written.
    BeforeRecords,
    /// With so many thousandths of the records written.
    Inside(u64),
    /// With all of them written, and nothing installed.
    BehindRecords,
}

impl Halt {
    const ALL: [Self; 10] = [
        Self::Summarizing,
        Self::BeforeBlob,
        Self::BehindBlob,
        Self::BeforeRecords,
        Self::Inside(1),
        Self::Inside(500),
        // The checkpoint is whole, and the record of the parts behind it is torn.
        Self::Inside(960),
        Self::Inside(990),
        Self::Inside(999),
        Self::BehindRecords,
    ];

    fn from_word(word: &str) -> Self {
        *Self::ALL.iter().find(|halt| format!("{halt:?}") == word).unwrap()
    }
}

/// A store on a disk that stops where it is told to, once it is told.
#[derive(Debug)]
struct Halting {
    store: FsStore,
    halt: Arc<Mutex<Option<Halt>>>,
}

impl Halting {
    fn stops_at(&self, at: Halt) -> bool {
        *self.halt.lock().unwrap() == Some(at)
    }
}

/// Stops for good: what comes next is the kill.
fn stop() -> ! {
    say("halted");
    loop {
        std::thread::park();
    }
}

impl Store for Halting {
    fn path(&self) -> PathBuf {
        self.store.path()
    }

    fn claim(&mut self, claim: Claim, owner: &Owner) -> Result<Claimed, Error> {
        self.store.claim(claim, owner)
    }

    fn append(
        &mut self,
        expected: u64,
        at_ms: i64,
        drafts: &[Draft],
        durability: Durability,
    ) -> Result<Appended, Error> {
        if self.stops_at(Halt::BeforeRecords) {
            stop();
        }
        let path = self.store.path();
        let before = self.store.len()?;
        let appended = self.store.append(expected, at_ms, drafts, durability)?;
        let halt = *self.halt.lock().unwrap();
        match halt {
            Some(Halt::BehindRecords) => stop(),
            Some(Halt::Inside(thousandths)) => {
                // What a process leaves that is killed while the system takes its bytes.
                let len = before + (self.store.len()? - before) * thousandths / 1_000;
                std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(len).unwrap();
                stop()
            }
            _ => Ok(appended),
        }
    }

    fn sync(&mut self) -> Result<Appended, Error> {
        self.store.sync()
    }

    fn len(&mut self) -> Result<u64, Error> {
        self.store.len()
    }

    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<usize, Error> {
        self.store.read(offset, bytes)
    }

    fn put_blob(&mut self, sha256: Sha256, bytes: &[u8], durability: Durability) -> Result<(), Error> {
        if self.stops_at(Halt::BeforeBlob) {
            stop();
        }
        self.store.put_blob(sha256, bytes, durability)?;
        if self.stops_at(Halt::BehindBlob) {
            stop();
        }
        Ok(())
    }

    fn blob(&mut self, sha256: Sha256) -> Result<Vec<u8>, Error> {
        self.store.blob(sha256)
    }

    fn blobs(&mut self) -> Result<Vec<Sha256>, Error> {
        self.store.blobs()
    }

    fn delete(self: Box<Self>, owner: &Owner) -> Result<(), Error> {
        Box::new(self.store).delete(owner)
    }
}

/// Says something long enough to be a blob, and before that arms the store or stops itself.
struct Arms(Halt, Arc<Mutex<Option<Halt>>>);

#[async_trait::async_trait]
impl Summarizer for Arms {
    async fn summarize(&self, _: SummaryRequest) -> Result<Summary, SummaryError> {
        if self.0 == Halt::Summarizing {
            say("halted");
            return std::future::pending().await;
        }
        *self.1.lock().unwrap() = Some(self.0);
        Ok(Summary::Text(summary()))
    }
}

fn summary() -> String {
    "It is all about lines of output. ".repeat(600)
}

struct Sums;

#[async_trait::async_trait]
impl Summarizer for Sums {
    async fn summarize(&self, _: SummaryRequest) -> Result<Summary, SummaryError> {
        Ok(Summary::Text(summary()))
    }
}

fn start(test: &str, lines: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", &format!("cut_short::{test}"), "--ignored", "--nocapture", "--test-threads=1"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{}", lines.join("\n")).unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

#[track_caller]
fn hear(out: &mut BufReader<ChildStdout>) -> String {
    for line in out.lines().map(Result::unwrap) {
        if let Some((_, word)) = line.split_once("child: ") {
            return word.to_owned();
        }
    }
    panic!("the child ended without a word");
}

fn told(session: &Session) -> String {
    told_items(&stored(session))
}

fn told_items(items: &[String]) -> String {
    format!("{} {}", items.len(), Sha256::of(items.join("\n").as_bytes()))
}

/// A turn with a long output; the first one of a process may break what was sent before.
async fn round(session: &Session, said: &str) -> session::Turn {
    let turn = session.begin_turn(UserInput::text(said)).unwrap();
    let step = turn.next_step().await.unwrap();
    assert!(turn.mark_sent(&step).await.unwrap().proof.is_legal());
    turn.record([call(&format!("call-{}", turn.id().as_str()))]).await.unwrap();
    turn.record_output(&turn.open_calls()[0], "line of output\n".repeat(2_500)).await.unwrap();
    turn
}

async fn whole_round(session: &Session, said: &str) {
    let turn = round(session, said).await;
    send(&turn).await;
    turn.record([WireItem::assistant_text("seen")]).await.unwrap();
    turn.finish().await.unwrap();
}

fn kept() -> SessionOptions {
    options(&Disk::project("Use tabs."))
}

#[tokio::test]
#[ignore = "run as a child by the test below"]
async fn child_compacts_and_is_killed() {
    let folder = SessionFolder::new(input());
    let halt = Halt::from_word(&input());
    let is_inside = input() == "inside a turn";
    let armed = Arc::new(Mutex::new(None));
    let store = Halting { store: FsStore::new(folder), halt: Arc::clone(&armed) };
    let session = Session::create_in(Box::new(store), new_session(), kept()).await.unwrap();
    session.set_tools(r#"[{"type":"function","name":"other"}]"#).unwrap();
    whole_round(&session, "one").await;
    let _turn = if is_inside { Some(round(&session, "two").await) } else { None };
    say(&told(&session));
    let trigger = if is_inside { CompactionTrigger::MidTurn } else { CompactionTrigger::Manual };
    let ended = session.compact(&Compaction::new(trigger), &Arms(halt, armed)).await;
    panic!("it was not stopped at {halt:?}: {ended:?}");
}

/// What was acknowledged is there, the compaction is whole or never happened, and the session goes on.
#[tokio::test]
async fn a_process_that_is_killed_inside_of_a_compaction_leaves_all_of_it_or_nothing() {
    let root = tempfile::tempdir().unwrap();
    let (mut outcomes, mut n_between) = ((0, 0), 0);
    for (number, halt) in Halt::ALL.into_iter().enumerate() {
        for (place, is_inside) in [("between turns", false), ("inside a turn", true)] {
            let folder = SessionFolder::new(root.path().join(format!("{number} {place}")));
            let path = folder.path().display().to_string();
            let (mut child, mut out) = start("child_compacts_and_is_killed", &[&path, &format!("{halt:?}"), place]);
            let acknowledged = hear(&mut out);
            assert_eq!(hear(&mut out), "halted");
            child.kill().unwrap();
            child.wait().unwrap();

            let log = file_bytes(&folder.log_path());
            let is_whole = read(&log).0.iter().any(|line| line.type_name() == "checkpoint");
            let resumed = Session::resume(&folder, kept()).await.unwrap();
            n_between += usize::from(is_whole && resumed.report.torn_tail.is_some());
            let session = resumed.session;
            let told_now = stored(&session);
            assert_eq!(resumed.interrupted.is_some(), is_inside, "{halt:?} {place}");
            let is_done = session.history().items().any(|item| item.kinds().contains(&SUMMARY_KIND));
            assert_eq!(is_done, is_whole, "{halt:?} {place}");
            let words: Vec<String> = session.history().items().map(|item| short_item(item.item())).collect();
            let n_notices = usize::from(is_inside);
            if is_done {
                outcomes.0 += 1;
                let summaries =
                    words.iter().filter(|item| item.starts_with("user(The conversation up to here")).count();
                assert_eq!((summaries, words[0].as_str()), (1, "user(one)"), "{words:?}");
                assert!(told_now.iter().any(|item| item.contains(&summary())));
                assert_eq!(words.iter().any(|item| item == "user(two)"), is_inside, "{words:?}");
                assert_eq!(words.len(), if is_inside { 5 + n_notices } else { 2 }, "{words:?}");
            } else {
                outcomes.1 += 1;
                let kept = told_now.len() - n_notices;
                assert_eq!(told_items(&told_now[..kept]), acknowledged, "{halt:?} {place}");
                assert!(session.history().world_state_baseline().is_some());
                session.compact(&Compaction::new(CompactionTrigger::Manual), &Sums).await.unwrap();
            }
            // It goes on, every section stands once, and its next prompts extend each other.
            whole_round(&session, "and on").await;
            let words: Vec<String> = session.history().items().map(|item| short_item(item.item())).collect();
            for section in ["<permissions instructions>", "# AGENTS.md instructions"] {
                assert_eq!(
                    words.iter().filter(|item| item.contains(section)).count(),
                    1,
                    "{halt:?} {place}: {words:?}"
                );
            }
            let (live, next) = (stored(&session), session.preview().input_json());
            session.close().await.unwrap();
            assert!(fsck(folder.path(), &mut |_| ()).unwrap().is_sound(), "{halt:?} {place}");
            let session = Session::resume(&folder, kept()).await.unwrap().session;
            assert_eq!((stored(&session), session.preview().input_json()), (live, next));
        }
    }
    assert!(outcomes.0 >= 4 && outcomes.1 >= 10 && n_between >= 2, "{outcomes:?}, {n_between}");
    println!("{outcomes:?} whole and not at all, {n_between} between the two records, lost: 0");
}

/// A fork takes its time: each of its large parts reaches the disk before the record that names it.
fn forked() -> SessionOptions {
    kept().with_durability(Durability::DataSync)
}

#[tokio::test]
#[ignore = "run as a child by the test below"]
async fn child_forks_until_it_is_killed() {
    let root = PathBuf::from(input());
    let folder = SessionFolder::new(root.join("parent"));
    let session = Session::create(&folder, new_session(), kept()).await.unwrap();
    let turn = session.begin_turn(UserInput::text("look at all of them")).unwrap();
    send(&turn).await;
    for number in 0..24 {
        turn.record([WireItem::assistant_text(&format!("{number} {}", "picture ".repeat(3_000)))]).await.unwrap();
    }
    turn.finish().await.unwrap();
    say(&told(&session));
    for number in 0.. {
        let place = SessionFolder::new(root.join(format!("fork-{number}")));
        let child = session.fork(&Fork::new(format!("fork-{number}")), &place, forked()).await.unwrap();
        say(&format!("forked {}", told(&child)));
        child.close().await.unwrap();
    }
}

/// The parent loses nothing, a fork that was acknowledged is whole, and one that was not is whole or says that it is not.
#[tokio::test]
async fn a_process_that_is_killed_inside_of_a_fork_leaves_a_whole_one_or_one_that_says_it_is_not() {
    let mut n_halves = 0;
    for kill in 0..300 {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().display().to_string();
        let (mut child, mut out) = start("child_forks_until_it_is_killed", &[&path]);
        let acknowledged = hear(&mut out);
        // As soon as the log of a fork is there, there is much to be done before it is whole.
        let place = SessionFolder::new(root.path().join(format!("fork-{}", kill % 3)));
        while !place.log_path().exists() {
            assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        let n_forked = rest.lines().filter(|line| line.ends_with(&format!("child: forked {acknowledged}"))).count();

        let parent = Session::resume(&SessionFolder::new(root.path().join("parent")), kept()).await.unwrap();
        assert!(parent.report.is_clean() && parent.interrupted.is_none());
        assert_eq!(told(&parent.session), acknowledged);
        let mut number = 0;
        loop {
            let place = SessionFolder::new(root.path().join(format!("fork-{number}")));
            if !place.path().exists() {
                assert!(number >= n_forked);
                break;
            }
            match Session::resume(&place, kept()).await {
                Ok(resumed) => {
                    assert_eq!(told(&resumed.session), acknowledged, "fork {number}");
                    whole_round(&resumed.session, "and on").await;
                }
                Err(error) => {
                    assert!(number >= n_forked, "fork {number} was acknowledged: {error}");
                    let is_known = matches!(error, Error::Unfinished { .. } | Error::Empty { .. } | Error::Io { .. });
                    assert!(is_known, "{error}");
                    n_halves += 1;
                    // It is cleared away like any other, and made again. Without a log there is nothing to clear away.
                    if place.log_path().exists() {
                        session::rollout::delete(&place, &Owner::this_process("here", AT_MS)).unwrap();
                    }
                    let again = parent.session.fork(&Fork::new("again"), &place, forked()).await.unwrap();
                    assert_eq!(told(&again), acknowledged);
                }
            }
            number += 1;
        }
        whole_round(&parent.session, "and on").await;
        if n_halves > 0 && kill >= 5 {
            break;
        }
    }
    assert!(n_halves > 0, "no kill came inside of a fork");
    println!("{n_halves} halves of forks");
}

/// A session of one round, a fork of it, and where the fork is kept.
async fn parent_and_fork(root: &Path, preset: Preset) -> (Session, Session, SessionFolder) {
    let options = || kept().with_preset(preset);
    let folder = SessionFolder::new(root.join("parent"));
    let session = Session::create(&folder, new_session(), options()).await.unwrap();
    whole_round(&session, "one").await;
    let place = SessionFolder::new(root.join("fork"));
    let child = session.fork(&Fork::new("fork"), &place, options()).await.unwrap();
    (session, child, place)
}

/// What a kill between the first write of a fork and its window leaves, at each byte between them.
#[tokio::test]
async fn a_fork_without_its_window_is_no_session_with_an_empty_history() {
    let root = tempfile::tempdir().unwrap();
    let (session, child, place) = parent_and_fork(root.path(), Preset::Default).await;
    child.close().await.unwrap();
    let log = file_bytes(&place.log_path());
    let lines: Vec<_> = log.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::len).collect();
    let (head, window) = (lines[0] + lines[1], lines[2]);
    let steps = (0..window).step_by(97).chain([window - 2]);
    for cut in steps {
        std::fs::write(place.log_path(), &log[..head + cut]).unwrap();
        let error = Session::resume(&place, kept()).await.unwrap_err();
        assert!(matches!(error, Error::Unfinished { .. }), "{cut}: {error}");
        assert!(
            error.to_string().ends_with("begins with a window that is not there: the fork was not made to its end")
        );
        assert_eq!(file_bytes(&place.log_path()).len(), head + cut, "nothing was written");
    }
    std::fs::write(place.log_path(), &log[..head + window]).unwrap();
    let resumed = Session::resume(&place, kept()).await.unwrap();
    assert_eq!(stored(&resumed.session), stored(&session));
}

/// A window that was written and is damaged is told as damage: what stands behind it was said, and a repair keeps it.
#[tokio::test]
async fn a_fork_whose_window_is_damaged_is_not_taken_for_half_of_one() {
    let root = tempfile::tempdir().unwrap();
    let (_parent, child, place) = parent_and_fork(root.path(), Preset::Default).await;
    whole_round(&child, "two").await;
    child.close().await.unwrap();
    let log = file_bytes(&place.log_path());
    let mut lines: Vec<_> = log.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let without: Vec<u8> = [&lines[..2], &lines[3..]].concat().concat();
    let last = lines[2].len() - 1;
    lines[2][..last].fill(0);
    let zeroed = lines.concat();
    let owner = Owner::this_process("here", AT_MS);
    for (name, bytes, words) in [("zeroed", zeroed, "not JSON"), ("without", without, "record 2 is missing")] {
        std::fs::write(place.log_path(), &bytes).unwrap();
        let error = Session::resume(&place, kept()).await.unwrap_err();
        assert!(matches!(error, Error::Unresumable { .. }) && error.to_string().contains(words), "{error}");
        assert_eq!(file_bytes(&place.log_path()), bytes, "nothing was written");
        let mended = SessionFolder::new(root.path().join(name));
        repair(place.path(), &mended, &owner, EditedRecords::LeaveOut, &mut |_| ()).unwrap();
        let session = Session::resume(&mended, kept()).await.unwrap().session;
        let words: Vec<String> = session.history().items().map(|item| short_item(item.item())).collect();
        assert!(words.contains(&"user(two)".into()) && !words.contains(&"user(one)".into()), "{words:?}");
        whole_round(&session, "three").await;
    }
}

/// What a half is to those who only look: it is shown, counted, copied as the half that it is, and cleared away.
#[tokio::test]
async fn half_of_a_fork_is_read_by_all_and_stays_half() {
    for preset in [Preset::Default, Preset::Codex] {
        let root = tempfile::tempdir().unwrap();
        let options = || kept().with_preset(preset);
        let (_parent, child, place) = parent_and_fork(root.path(), preset).await;
        child.close().await.unwrap();
        let log = file_bytes(&place.log_path());
        let ends: Vec<usize> =
            log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        let owner = Owner::this_process("here", AT_MS);
        let cuts = (0..ends[1]).step_by(61).chain(ends[0] - 2..ends[0] + 2).chain(ends[1] - 2..ends[1] + 2);
        for (number, cut) in cuts.chain((ends[1]..ends[2]).step_by(701)).chain([ends[2] - 2]).enumerate() {
            std::fs::write(place.log_path(), &log[..cut]).unwrap();
            let error = Session::resume(&place, options()).await.unwrap_err();
            let has_header = cut + 1 >= ends[0];
            let is_half = matches!(error, Error::Unfinished { .. });
            assert!(
                is_half == has_header || matches!(error, Error::NotOurs { .. } | Error::Empty { .. }),
                "{cut}: {error}"
            );
            let checked = fsck(place.path(), &mut |_| ()).unwrap();
            let n_records = ends.iter().filter(|end| **end <= cut + 1).count() as u64;
            assert_eq!(checked.report.records, n_records, "{cut}");
            assert_eq!(stats(place.path(), &mut |_| ()).unwrap().report.records, n_records, "{cut}");
            let mut out = Vec::new();
            assert_eq!(salvage(&place.log_path(), &mut out, &mut |_| ()).unwrap().records, n_records, "{cut}");
            let exported = place.events().and_then(|events| session::foreign::export(events, &mut Vec::new()));
            assert!(!has_header || exported.is_ok(), "{cut}: {exported:?}");
            let mended = SessionFolder::new(root.path().join(format!("mended-{number}")));
            if repair(place.path(), &mended, &owner, EditedRecords::LeaveOut, &mut |_| ()).is_ok() {
                let error = Session::resume(&mended, options()).await.unwrap_err();
                assert!(has_header && matches!(error, Error::Unfinished { .. }), "{cut}: {error}");
                session::rollout::delete(&mended, &owner).unwrap();
                assert!(!mended.path().exists());
            }
        }
        session::rollout::delete(&place, &owner).unwrap();
        assert!(!place.path().exists());
    }
}
