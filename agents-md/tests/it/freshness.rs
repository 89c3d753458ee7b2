//! What is seen of an edit under each policy, and what is visible while a load runs.

use std::{
    fs,
    future::Future,
    io::ErrorKind,
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::{Duration, SystemTime},
};

use agents_md::{
    AgentsMdManager, Discovery, DuringLoad, Freshness, Held, HostInstructions, InstructionProvider,
    ProvidedInstructions, Refresh, RemoteFileSystem, ThreadInstructions, TrustLevel, TurnEnvironmentSelection,
};

use crate::stage::Stage;

type Selections = Arc<[TurnEnvironmentSelection]>;

fn at(folder: &str) -> Selections {
    Arc::new([TurnEnvironmentSelection::new("local", folder)])
}

/// Long after every edit of a test.
fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000)
}

fn manager(stage: &Arc<Stage>, freshness: Freshness) -> AgentsMdManager {
    let stage = Arc::clone(stage) as Arc<dyn RemoteFileSystem>;
    AgentsMdManager::on_remote(Discovery::default(), stage).with_freshness(freshness).with_clock(noon)
}

fn two_folders() -> Arc<Stage> {
    Stage::new(&[("/a/.git", ""), ("/a/AGENTS.md", "A"), ("/b/.git", ""), ("/b/AGENTS.md", "B")])
}

async fn check(manager: &AgentsMdManager, key: &Selections, want: (Refresh, &str)) {
    let refreshed = manager.refresh(key, TrustLevel::Trusted).await.unwrap();
    assert_eq!((refreshed.refresh, refreshed.loaded.text()), want);
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test]
async fn b12_an_edit_is_seen_at_the_next_refresh_by_every_policy_that_looks() {
    for freshness in [Freshness::Stat, Freshness::Hash, Freshness::EveryRefresh] {
        let stage = two_folders();
        let (manager, key) = (manager(&stage, freshness), at("/a"));
        check(&manager, &key, (Refresh::First, "A")).await;
        let before = manager.get_loaded().unwrap();
        check(&manager, &key, (Refresh::Checked, "A")).await;
        assert!(Arc::ptr_eq(&before, &manager.get_loaded().unwrap()), "the same value keeps its address");
        stage.put("/a/AGENTS.md", "EDITED", 2);
        check(&manager, &key, (Refresh::Files, "EDITED")).await;
        stage.put("/a/AGENTS.override.md", "OVERRIDE", 3);
        check(&manager, &key, (Refresh::Files, "OVERRIDE")).await;
        stage.remove("/a/AGENTS.override.md");
        stage.remove("/a/AGENTS.md");
        check(&manager, &key, (Refresh::Files, "")).await;
        check(&manager, &key, (Refresh::Checked, "")).await;
        assert_eq!(before.text(), "A", "what a step holds does not change under it");
    }
}

#[tokio::test]
async fn on_selection_asks_nothing_until_the_key_changes() {
    let stage = two_folders();
    let (manager, key) = (manager(&stage, Freshness::OnSelection), at("/a"));
    check(&manager, &key, (Refresh::First, "A")).await;
    stage.put("/a/AGENTS.md", "EDITED", 2);
    assert_eq!(stage.calls(), ["probe", "probe", "read"]);
    check(&manager, &key, (Refresh::Hit, "A")).await;
    assert!(stage.calls().is_empty());
    check(&manager, &at("/b"), (Refresh::Selections, "B")).await;
    check(&manager, &key, (Refresh::Selections, "EDITED")).await;
}

#[tokio::test]
async fn each_policy_costs_what_it_says() {
    let cost = async |freshness, clock: bool| {
        let stage = two_folders();
        let mut manager =
            AgentsMdManager::on_remote(Discovery::default(), Arc::clone(&stage) as Arc<dyn RemoteFileSystem>)
                .with_freshness(freshness);
        if clock {
            manager = manager.with_clock(noon);
        }
        check(&manager, &at("/a"), (Refresh::First, "A")).await;
        drop(stage.calls());
        assert!(manager.refresh(&at("/a"), TrustLevel::Trusted).await.unwrap().refresh.is_hit());
        stage.calls().join(" ")
    };
    assert_eq!(cost(Freshness::OnSelection, true).await, "");
    assert_eq!(cost(Freshness::Stat, true).await, "check");
    assert_eq!(cost(Freshness::Stat, false).await, "check read", "without a clock every time may be too young");
    assert_eq!(cost(Freshness::Hash, true).await, "check read");
    assert_eq!(cost(Freshness::EveryRefresh, true).await, "probe probe read");
}

#[tokio::test]
async fn an_edit_that_the_time_does_not_show_is_seen_where_it_can_happen() {
    let stage = two_folders();
    // Changed one second before it is read: the next edit may bear the same time.
    stage.put("/a/AGENTS.md", "A", 999);
    let key = at("/a");
    let stat = manager(&stage, Freshness::Stat);
    check(&stat, &key, (Refresh::First, "A")).await;
    stage.put_in_place("/a/AGENTS.md", "Z");
    check(&stat, &key, (Refresh::Files, "Z")).await;
    // Long before it is read: an edit that keeps the time, the size and the file is not seen by `Stat`, only by `Hash`.
    stage.put("/b/AGENTS.md", "B", 5);
    let (stat, hash) = (manager(&stage, Freshness::Stat), manager(&stage, Freshness::Hash));
    check(&stat, &at("/b"), (Refresh::First, "B")).await;
    check(&hash, &at("/b"), (Refresh::First, "B")).await;
    stage.put_in_place("/b/AGENTS.md", "Y");
    check(&stat, &at("/b"), (Refresh::Checked, "B")).await;
    check(&hash, &at("/b"), (Refresh::Files, "Y")).await;
}

#[tokio::test]
async fn a_file_that_was_only_touched_is_no_change() {
    let stage = two_folders();
    let (manager, key) = (manager(&stage, Freshness::Stat), at("/a"));
    check(&manager, &key, (Refresh::First, "A")).await;
    stage.put("/a/AGENTS.md", "A", 7);
    check(&manager, &key, (Refresh::Checked, "A")).await;
    drop(stage.calls());
    check(&manager, &key, (Refresh::Checked, "A")).await;
    assert_eq!(stage.calls(), ["check"], "the new time is what later looks are compared with");
}

#[tokio::test]
async fn b14_what_readers_see_while_a_load_runs() {
    for (during, want) in [(DuringLoad::Empty, None), (DuringLoad::KeepPrevious, Some("A"))] {
        let stage = two_folders();
        let manager = manager(&stage, Freshness::OnSelection).during_load(during);
        check(&manager, &at("/a"), (Refresh::First, "A")).await;
        stage.hold(true);
        let (slow_key, fast_key) = (at("/b"), at("/a"));
        let mut slow = pin!(manager.refresh(&slow_key, TrustLevel::Trusted));
        assert!(poll(slow.as_mut()).is_pending());
        let visible = manager.get_loaded();
        assert_eq!(visible.as_deref().map(|loaded| loaded.text()), want);
        let slow_call = stage.held();
        stage.put("/a/AGENTS.md", "A2", 2);
        stage.hold(false);
        let fast = manager.refresh(&fast_key, TrustLevel::Trusted).await.unwrap();
        assert_eq!((fast.refresh, fast.loaded.text()), (Refresh::Selections, "A2"));
        slow_call.into_iter().for_each(crate::stage::Held::let_through);
        assert_eq!(slow.await.unwrap().loaded.text(), "B", "its own caller gets what it asked for");
        assert_eq!(manager.get_loaded().unwrap().text(), "A2", "and nobody else");
    }
}

#[tokio::test]
async fn the_previous_text_is_never_shown_under_another_trust_or_permission() {
    let restricted: Selections = Arc::new([TurnEnvironmentSelection::new("local", "/b").restricted()]);
    let other: Selections = Arc::new([TurnEnvironmentSelection::new("other", "/b")]);
    let cases = [
        (at("/b"), TrustLevel::Trusted, true),
        (at("/b"), TrustLevel::Untrusted, false),
        (at("/b"), TrustLevel::Unknown, false),
        (restricted, TrustLevel::Trusted, false),
        (other, TrustLevel::Trusted, false),
    ];
    for (key, trust, is_shown) in cases {
        let stage = two_folders();
        let manager = manager(&stage, Freshness::OnSelection)
            .during_load(DuringLoad::KeepPrevious)
            .with_host_instructions(HostInstructions::Fixed(agents_md::UserSource::Folder("/home".into())));
        check(&manager, &at("/a"), (Refresh::First, "A")).await;
        stage.hold(true);
        let mut load = pin!(manager.refresh(&key, trust));
        assert!(poll(load.as_mut()).is_pending());
        assert_eq!(manager.get_loaded().is_some(), is_shown, "{key:?} {trust:?}");
    }
}

#[tokio::test]
async fn an_error_or_a_cancelled_load_leaves_nothing_of_the_previous_text() {
    let stage = two_folders();
    let manager = manager(&stage, Freshness::OnSelection).during_load(DuringLoad::KeepPrevious);
    let strict: Selections = Arc::new([TurnEnvironmentSelection::new("local", "/b")]);
    check(&manager, &at("/a"), (Refresh::First, "A")).await;
    stage.hold(true);
    {
        let mut load = pin!(manager.refresh(&strict, TrustLevel::Trusted));
        assert!(poll(load.as_mut()).is_pending());
        assert!(manager.get_loaded().is_some());
    }
    assert!(manager.get_loaded().is_none(), "cancelled");
    stage.hold(false);
    check(&manager, &at("/a"), (Refresh::Selections, "A")).await;
    stage.lose_an_answer(true);
    let error = manager.refresh(&strict, TrustLevel::Trusted).await.unwrap_err();
    assert_eq!(error.to_string(), "2 paths were asked about and 1 answers came back");
    assert!(manager.get_loaded().is_none(), "failed");
    stage.lose_an_answer(false);
    check(&manager, &strict, (Refresh::Retry, "B")).await;
    manager.invalidate();
    assert!(manager.get_loaded().is_none(), "invalidated");
}

#[tokio::test]
async fn an_unreadable_file_is_cached_in_full_access_until_the_key_changes_or_a_policy_looks() {
    for freshness in [Freshness::OnSelection, Freshness::Stat, Freshness::Hash] {
        let stage = two_folders();
        let (manager, key) = (manager(&stage, freshness), at("/a"));
        stage.fail(Some(ErrorKind::PermissionDenied));
        check(&manager, &key, (Refresh::First, "")).await;
        stage.fail(None);
        let again = manager.refresh(&key, TrustLevel::Trusted).await.unwrap();
        let want = if freshness == Freshness::Hash { (Refresh::Files, "A") } else { (again.refresh, "") };
        assert_eq!((again.refresh, again.loaded.text()), want, "{freshness:?}");
        assert_eq!(again.refresh.is_hit(), freshness != Freshness::Hash);
        let restricted: Selections = Arc::new([TurnEnvironmentSelection::new("box", "/a").restricted()]);
        stage.fail(Some(ErrorKind::PermissionDenied));
        for _ in 0..2 {
            let error = manager.refresh(&restricted, TrustLevel::Trusted).await.unwrap_err();
            assert_eq!(error.to_string(), "could not read /a/AGENTS.md (environment `box`)");
            assert!(manager.get_loaded().is_none());
        }
    }
}

#[tokio::test]
async fn a_caller_does_not_accept_a_check_that_began_before_it_came() {
    let stage = two_folders();
    let (manager, key) = (manager(&stage, Freshness::Stat), at("/a"));
    check(&manager, &key, (Refresh::First, "A")).await;
    drop(stage.calls());
    stage.hold(true);
    let mut first = pin!(manager.refresh(&key, TrustLevel::Trusted));
    assert!(poll(first.as_mut()).is_pending());
    let mut later: Vec<_> = (0..3).map(|_| Box::pin(manager.refresh(&key, TrustLevel::Trusted))).collect();
    for later in &mut later {
        assert!(poll(later.as_mut()).is_pending());
    }
    assert_eq!(stage.held().len(), 1, "one check at a time");
    stage.hold(false);
    // The call that was held was dropped with its gate, so the first check goes on.
    assert_eq!(first.await.unwrap().refresh, Refresh::Checked);
    let mut refreshes = Vec::new();
    for later in later {
        refreshes.push(later.await.unwrap().refresh);
    }
    assert_eq!(refreshes, [Refresh::Checked, Refresh::Hit, Refresh::Hit], "they share one check of their own");
    assert_eq!(stage.calls(), ["check", "check"]);
}

/// Drops a refresh at each point where it waits, and looks what is left.
#[tokio::test]
async fn a_refresh_can_be_dropped_wherever_it_waits() {
    for (freshness, is_edited) in [
        (Freshness::OnSelection, false),
        (Freshness::Stat, false),
        (Freshness::Stat, true),
        (Freshness::Hash, true),
        (Freshness::EveryRefresh, true),
    ] {
        for is_first in [true, false] {
            let mut n_waits = 0;
            loop {
                let stage = two_folders();
                let (manager, key) = (manager(&stage, freshness), at("/a"));
                if !is_first {
                    check(&manager, &key, (Refresh::First, "A")).await;
                }
                if is_edited {
                    stage.put("/a/AGENTS.md", "EDITED", 2);
                }
                stage.hold(true);
                let mut is_done = false;
                let mut was_checking = false;
                {
                    let mut refresh = pin!(manager.refresh(&key, TrustLevel::Trusted));
                    for _ in 0..=n_waits {
                        is_done = poll(refresh.as_mut()).is_ready();
                        let held = stage.held();
                        was_checking = held.iter().any(|held| held.call.starts_with("check"));
                        held.into_iter().for_each(crate::stage::Held::let_through);
                    }
                }
                if is_done {
                    break;
                }
                stage.hold(false);
                if was_checking && !is_first {
                    assert_eq!(manager.get_loaded().unwrap().text(), "A", "a dropped check leaves what stands");
                } else if n_waits > 0 || is_first || freshness == Freshness::EveryRefresh {
                    let left = manager.get_loaded();
                    let is_check_read = matches!(freshness, Freshness::Hash) && !is_first && left.is_some();
                    assert!(left.is_none() || is_check_read, "a dropped load leaves nothing: {freshness:?} {n_waits}");
                }
                let after = manager.refresh(&key, TrustLevel::Trusted).await.unwrap();
                assert_eq!(after.loaded.text(), if is_edited { "EDITED" } else { "A" });
                n_waits += 1;
            }
            assert!(n_waits > 0 || (freshness == Freshness::OnSelection && !is_first));
        }
    }
}

/// Instructions that the test changes.
#[derive(Default)]
struct Desk(Mutex<Option<ProvidedInstructions>>);

impl InstructionProvider for Desk {
    fn instructions(&self) -> Option<ProvidedInstructions> {
        self.0.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn a_reader_that_holds_its_instructions_is_told_of_edits_too() {
    let stage = two_folders();
    let (manager, key) = (manager(&stage, Freshness::Stat), at("/a"));
    let mut held = Held::new();
    let mut told = Vec::new();
    for text in ["A", "A", "EDITED"] {
        if text == "EDITED" {
            stage.put("/a/AGENTS.md", text, 9);
        }
        let (loaded, refresh) = manager.refresh_held(&mut held, &key, TrustLevel::Trusted).await.unwrap();
        told.push((refresh, loaded.text().to_owned()));
    }
    assert_eq!(
        told.iter().map(|(refresh, _)| *refresh).collect::<Vec<_>>(),
        [Refresh::First, Refresh::Checked, Refresh::Files]
    );
    assert_eq!(told[2].1, "EDITED");
}

#[tokio::test]
async fn other_words_of_the_user_touch_no_disk_where_no_policy_asks_for_it() {
    for (freshness, calls) in [(Freshness::OnSelection, ""), (Freshness::Stat, "probe probe read")] {
        let desk = Arc::new(Desk::default());
        let stage = two_folders();
        let manager = manager(&stage, freshness)
            .with_host_instructions(HostInstructions::Provider(Arc::clone(&desk) as Arc<dyn InstructionProvider>));
        check(&manager, &at("/a"), (Refresh::First, "A")).await;
        stage.put("/a/AGENTS.md", "EDITED", 2);
        drop(stage.calls());
        *desk.0.lock().unwrap() = Some(ProvidedInstructions::new("U"));
        let text = if calls.is_empty() { "A" } else { "EDITED" };
        let want = format!("U\n\n--- project-doc ---\n\n{text}");
        check(&manager, &at("/a"), (Refresh::UserInstructions, &want)).await;
        assert_eq!(stage.calls().join(" "), calls, "{freshness:?}");
        *desk.0.lock().unwrap() = None;
        check(&manager, &at("/a"), (Refresh::UserInstructions, text)).await;
        check(&manager, &at("/b"), (Refresh::Selections, "B")).await;
    }
}

#[tokio::test]
async fn a_sub_agent_inherits_what_was_applied_and_not_the_provider() {
    let desk = Arc::new(Desk(Mutex::new(Some(ProvidedInstructions::new("U1")))));
    let stage = two_folders();
    let parent = manager(&stage, Freshness::OnSelection)
        .with_host_instructions(HostInstructions::Provider(Arc::clone(&desk) as Arc<dyn InstructionProvider>))
        .with_thread(ThreadInstructions::new("THREAD").unwrap());
    parent.refresh(&at("/a"), TrustLevel::Untrusted).await.unwrap();
    let child = manager(&stage, Freshness::OnSelection).with_host_instructions(parent.inherited_instructions());
    *desk.0.lock().unwrap() = Some(ProvidedInstructions::new("U2"));
    let loaded = child.refresh(&at("/a"), TrustLevel::Untrusted).await.unwrap().loaded;
    assert_eq!(loaded.user_text(), Some("U1"));
    let changed = parent.refresh(&at("/a"), TrustLevel::Untrusted).await.unwrap();
    assert_eq!((changed.refresh, changed.loaded.user_text()), (Refresh::UserInstructions, Some("U2")));
}

#[expect(clippy::disallowed_methods, reason = "here the test is the host")]
fn now() -> SystemTime {
    SystemTime::now()
}

#[tokio::test]
async fn b12_edits_on_a_disk_are_seen() {
    for freshness in [Freshness::Stat, Freshness::Hash, Freshness::EveryRefresh] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("AGENTS.md");
        fs::create_dir(folder.path().join(".git")).unwrap();
        fs::write(&file, "A").unwrap();
        let manager = AgentsMdManager::on_host(Discovery::default()).with_freshness(freshness).with_clock(now);
        let key: Selections = Arc::new([TurnEnvironmentSelection::new("local", folder.path())]);
        check(&manager, &key, (Refresh::First, "A")).await;
        // The same size, and as soon as possible: only that the file was young when it was read gives it away.
        fs::write(&file, "B").unwrap();
        check(&manager, &key, (Refresh::Files, "B")).await;
        fs::write(folder.path().join(".git/index"), "git works").unwrap();
        check(&manager, &key, (Refresh::Checked, "B")).await;
        fs::remove_file(&file).unwrap();
        check(&manager, &key, (Refresh::Files, "")).await;
    }
}

#[cfg(all(feature = "watch", target_os = "linux"))]
#[tokio::test]
async fn b12_a_watched_edit_is_seen_and_a_hit_asks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let shared = folder.path().join("shared.md");
    fs::create_dir_all(folder.path().join("r/.git")).unwrap();
    fs::write(&shared, "A").unwrap();
    let file = folder.path().join("r/AGENTS.md");
    std::os::unix::fs::symlink(&shared, &file).unwrap();
    let manager = AgentsMdManager::on_host(Discovery::default()).with_freshness(Freshness::Watch);
    let key: Selections = Arc::new([TurnEnvironmentSelection::new("local", folder.path().join("r"))]);
    check(&manager, &key, (Refresh::First, "A")).await;
    assert_eq!(manager.watch_failure(), None);
    let mut held = Held::new();
    for want in [Refresh::Hit, Refresh::Hit] {
        let mut hit = pin!(manager.refresh_held(&mut held, &key, TrustLevel::Trusted));
        assert!(matches!(poll(hit.as_mut()), Poll::Ready(Ok((_, refresh))) if refresh == want));
    }
    type Edit<'a> = &'a dyn Fn();
    let edits: [(Edit<'_>, &str); 4] = [
        (&|| fs::write(&shared, "B").unwrap(), "B"),
        (&|| fs::write(folder.path().join("r/AGENTS.override.md"), "C").unwrap(), "C"),
        (&|| fs::remove_file(folder.path().join("r/AGENTS.override.md")).unwrap(), "B"),
        (
            &|| {
                fs::write(folder.path().join("new.md"), "D").unwrap();
                fs::rename(folder.path().join("new.md"), &file).unwrap();
            },
            "D",
        ),
    ];
    for (edit, want) in edits {
        edit();
        let start = std::time::Instant::now();
        loop {
            let refreshed = manager.refresh(&key, TrustLevel::Trusted).await.unwrap();
            if refreshed.loaded.text() == want {
                assert_eq!(refreshed.refresh, Refresh::Files);
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "{want} was never seen");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[cfg(feature = "watch")]
#[tokio::test]
async fn where_nothing_can_be_watched_a_watch_looks() {
    let stage = two_folders();
    let (manager, key) = (manager(&stage, Freshness::Watch), at("/a"));
    check(&manager, &key, (Refresh::First, "A")).await;
    stage.put("/a/AGENTS.md", "EDITED", 2);
    check(&manager, &key, (Refresh::Files, "EDITED")).await;
    assert_eq!(manager.watch_failure().as_deref(), Some("only the disk of this machine is watched"));
}
