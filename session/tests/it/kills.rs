//! Processes that are killed at random points, and processes that race for a log.
//!
//! A child is this test program again, running one of the ignored tests below; it takes its folder from its input.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use context_fragments::WireItem;
use session::{
    Error, LogFailure, NewSession, Session, UserInput,
    rollout::{Durability, Owner, SessionFolder, SessionMeta, Sha256},
    store::LogHealth,
};

use crate::{
    child::{input, say},
    sample::{AT_MS, file_bytes, read},
    stage::{Disk, call, options, send},
};

fn start(test: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", &format!("kills::{test}"), "--ignored", "--nocapture", "--test-threads=1"]);
    child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn hear(out: &mut BufReader<ChildStdout>) -> Option<String> {
    for line in out.lines() {
        if let Some((_, word)) = line.ok()?.split_once("child: ") {
            return Some(word.to_owned());
        }
    }
    None
}

/// How many items the history has, and what their wire bytes are.
fn history(session: &Session) -> Vec<String> {
    session.history().items().map(|item| item.item().as_str().to_owned()).collect()
}

fn digest(items: &[String]) -> Sha256 {
    Sha256::of(items.join("\n").as_bytes())
}

async fn opened(folder: &SessionFolder, durability: Durability) -> Session {
    let options = options(&Disk::project("Use tabs.")).with_durability(durability);
    if folder.log_path().exists() {
        match Session::resume(folder, options).await {
            Ok(resumed) => resumed.session,
            // The one before was killed while it made the log.
            Err(Error::Empty { .. }) => make(folder, durability).await,
            Err(error) => panic!("{error}"),
        }
    } else {
        make(folder, durability).await
    }
}

async fn make(folder: &SessionFolder, durability: Durability) -> Session {
    let options = options(&Disk::project("Use tabs.")).with_durability(durability);
    Session::create(folder, NewSession::new("s1"), options).await.unwrap()
}

/// Goes on for ever, and says after each call what has been acknowledged.
#[tokio::test]
#[ignore = "run as a child by the tests below"]
async fn child_talks_until_it_is_killed() {
    let folder = SessionFolder::new(input());
    let durability = if input() == "sync" { Durability::DataSync } else { Durability::Flush };
    let session = opened(&folder, durability).await;
    let told = || {
        let items = history(&session);
        say(&format!("{} {}", items.len(), digest(&items)));
    };
    told();
    for number in 0.. {
        let picture = format!("data:image/png;base64,{}", format!("{number:08}").repeat(3_000));
        let turn = session.begin_turn(UserInput::text(format!("turn {number}")).with_image(picture, "auto")).unwrap();
        send(&turn).await;
        told();
        turn.record([WireItem::assistant_text("looking"), call(&format!("c{number}"))]).await.unwrap();
        told();
        for open in turn.open_calls() {
            turn.record_output(&open, "done ".repeat(number % 300)).await.unwrap();
            told();
        }
        send(&turn).await;
        turn.record([WireItem::assistant_text("done")]).await.unwrap();
        turn.finish().await.unwrap();
        told();
    }
}

/// As many times as `SESSION_KILLS` says, and 50 without it.
#[tokio::test]
async fn s15_what_was_acknowledged_before_a_kill_at_any_time_is_gone_on_with() {
    let kills = asked("SESSION_KILLS", 50);
    let root = tempfile::tempdir().unwrap();
    // A generator of one's own: any spread of the times does, and a test needs no seed from outside.
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    let mut n_acknowledged = 0;
    for kill in 0..kills {
        // Ten kills to a session, so that the logs of killed processes are gone on from and killed again.
        let folder = SessionFolder::new(root.path().join(format!("s{}", kill / 10)));
        let mut child = start("child_talks_until_it_is_killed");
        let level = if kill % 5 == 0 { "sync" } else { "flush" };
        writeln!(child.stdin.as_mut().unwrap(), "{}\n{level}", folder.path().display()).unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let first = hear(&mut out).expect("the child could not begin");
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        tokio::time::sleep(Duration::from_micros(random % 40_000)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        // The last whole line that it has said.
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        let whole = rest.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let last = whole
            .filter_map(|line| line.split_once("child: "))
            .next_back()
            .map_or(first, |(_, word)| word.trim().to_owned());
        let (n_items, sha256) = last.split_once(' ').unwrap();
        let n_items: usize = n_items.parse().unwrap();
        n_acknowledged += n_items;

        let session = opened(&folder, Durability::Flush).await;
        let items = history(&session);
        assert!(items.len() >= n_items, "kill {kill}: {n_items} items were acknowledged, {} are there", items.len());
        assert_eq!(digest(&items[..n_items]).to_string(), sha256, "kill {kill}");
        // The guard in `send` proves that the next prompt extends the one that the dead process sent last.
        let turn = session.begin_turn(UserInput::text("go on")).unwrap();
        send(&turn).await;
        turn.record([WireItem::assistant_text("gone on")]).await.unwrap();
        turn.finish().await.unwrap();
        session.close().await.unwrap();
        let (_, report) = read(&file_bytes(&folder.log_path()));
        assert!(report.is_clean(), "kill {kill}: {:?}", report.findings);
        assert!(session::rollout::fsck(folder.path(), &mut |_| ()).unwrap().is_sound(), "kill {kill}");
    }
    println!("{kills} kills, {n_acknowledged} acknowledged items, lost: 0");
}

#[expect(clippy::disallowed_methods, reason = "the caller of a test speaks through the environment")]
fn asked(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

#[test]
#[ignore = "run as a child by the test below"]
fn child_races_for_the_log() {
    let folder = SessionFolder::new(input());
    say("ready");
    while input() == "go" {
        let owner = Owner::this_process("build-7", AT_MS);
        let opened = folder.open_writer(&owner, Durability::Flush);
        match &opened {
            Ok(_) => say("won"),
            Err(Error::Busy { pid, since, .. }) => say(&format!("busy {pid:?} {since:?}")),
            Err(error) => say(&format!("failed: {error}")),
        }
        assert_eq!(input(), "give it back");
        drop(opened);
        say("given back");
    }
}

#[test]
fn s14_of_two_processes_exactly_one_wins_each_of_a_hundred_times() {
    let root = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(root.path().join("s1"));
    drop(folder.create(&SessionMeta::new("s1"), &Owner::this_process("here", AT_MS), Durability::Flush).unwrap());
    let mut racers: Vec<_> = (0..2)
        .map(|_| {
            let mut child = start("child_races_for_the_log");
            tell(&mut child, &folder.path().display().to_string());
            let out = BufReader::new(child.stdout.take().unwrap());
            (child, out)
        })
        .collect();
    for (_, out) in &mut racers {
        assert_eq!(hear(out).as_deref(), Some("ready"));
    }
    let mut wins = [0; 2];
    for round in 0..100 {
        // Who hears first has no right to win, so both are told first at times.
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for index in order {
            tell(&mut racers[index].0, "go");
        }
        let said: Vec<_> = racers.iter_mut().map(|(_, out)| hear(out).unwrap()).collect();
        let winner = said.iter().position(|word| word == "won").unwrap_or_else(|| panic!("round {round}: {said:?}"));
        let pid = racers[winner].0.id();
        assert!(said[1 - winner].starts_with(&format!("busy Some({pid})")), "round {round}: {said:?}");
        wins[winner] += 1;
        for (child, out) in &mut racers {
            tell(child, "give it back");
            assert_eq!(hear(out).as_deref(), Some("given back"));
        }
    }
    for (mut child, _) in racers {
        tell(&mut child, "stop");
        assert!(child.wait().unwrap().success());
    }
    let (lines, report) = read(&file_bytes(&folder.log_path()));
    assert!(report.is_clean() && lines.len() == 102, "{} records, {:?}", lines.len(), report.findings);
    println!("{wins:?} wins");
}

/// Talks while the disk fills up, and goes on when there is room; where it may not have a disk of its own, until its file
/// may not grow any more.
#[tokio::test]
#[ignore = "run as a child by the test below"]
async fn child_talks_on_a_full_disk() {
    let root = std::path::PathBuf::from(input());
    let has_disk = input() == "disk";
    let folder = SessionFolder::new(root.join("s1"));
    let options = options(&Disk::project("Use tabs.")).with_log_failure(LogFailure::Degraded);
    let session = Session::create(&folder, NewSession::new("s1"), options).await.unwrap();
    let ballast = root.join("ballast");
    if has_disk {
        let mut file = std::fs::File::create(&ballast).unwrap();
        while file.write_all(&[0; 512]).is_ok() {}
    }
    let mut n_turns = 0;
    while session.log_status().health.is_healthy() {
        let turn = session.begin_turn(UserInput::text(format!("turn {n_turns} {}", "x".repeat(900)))).unwrap();
        send(&turn).await;
        turn.record([WireItem::assistant_text("done")]).await.unwrap();
        turn.finish().await.unwrap();
        n_turns += 1;
        assert!(n_turns < 200, "the disk is never full");
    }
    let status = session.log_status();
    let LogHealth::Degraded { pending, last_error, .. } = &status.health else { panic!("{status:?}") };
    assert!(*pending > 0, "{status:?}");
    let (lines, report) = read(&file_bytes(&folder.log_path()));
    assert!(report.is_clean(), "{:?}", report.findings);
    assert_eq!(status.flushed_through, Some(lines.len() as u64 - 1), "nothing is claimed that is not there");
    say(&format!("degraded: {last_error}"));
    if has_disk {
        std::fs::remove_file(&ballast).unwrap();
        session.sync().await.unwrap();
        assert!(session.log_status().health.is_healthy());
        let items = history(&session);
        drop(session);
        let (lines, report) = read(&file_bytes(&folder.log_path()));
        assert!(report.is_clean(), "{:?}", report.findings);
        let logged = lines.iter().filter(|line| line.type_name() == "item");
        assert!(logged.map(|line| line.payload().unwrap().as_raw()).eq(items.iter().map(String::as_str)));
    }
    say("healthy");
}

#[cfg(target_os = "linux")]
#[test]
fn s13_a_really_full_disk_degrades_and_room_makes_healthy_again() {
    let temporary = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=96k none \"$0\"";
    let may_mount = Command::new("unshare").args(["-m", "sh", "-c", mount]).arg(temporary.path()).status();
    let has_disk = may_mount.is_ok_and(|status| status.success());
    let mut shell = if has_disk {
        let mut shell = Command::new("unshare");
        shell.args(["-m", "sh", "-c", &format!("{mount} && shift 0 && exec \"$@\"")]).arg(temporary.path());
        shell
    } else {
        // Without the right to mount, the limit on the size of files stands for the full disk.
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 32; exec \"$@\"", "sh"]);
        shell
    };
    shell.arg(std::env::current_exe().unwrap());
    shell.args(["--exact", "kills::child_talks_on_a_full_disk", "--ignored", "--nocapture", "--test-threads=1"]);
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    tell(&mut child, &temporary.path().display().to_string());
    tell(&mut child, if has_disk { "disk" } else { "limit" });
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let said = hear(&mut out).expect("the child ended without a word");
    assert!(said.starts_with("degraded: could not append record "), "{said}");
    assert_eq!(hear(&mut out).as_deref(), Some("healthy"));
    assert!(child.wait().unwrap().success());
}

fn tell(child: &mut Child, word: &str) {
    let stdin = child.stdin.as_mut().unwrap();
    writeln!(stdin, "{word}").unwrap();
    stdin.flush().unwrap();
}
