//! When instructions are loaded again, and what others see meanwhile.

use std::{
    fs,
    future::Future,
    io::ErrorKind,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use agents_md::{
    AgentsMdManager, Discovery, FileBytes, FileKind, Found, Held, HostInstructions, InstructionProvider, MemoryFs,
    ProbeAnswer, ProbeAsk, ProvidedInstructions, ReadAnswer, ReadAsk, Refresh, RemoteFileSystem, ThreadInstructions,
    TrustLevel, TurnEnvironmentSelection, UserSource,
};
use async_trait::async_trait;
use tokio::sync::Semaphore;

type Selections = Arc<[TurnEnvironmentSelection]>;

fn at(folder: &str) -> Selections {
    Arc::new([TurnEnvironmentSelection::new("local", folder)])
}

fn two_folders() -> MemoryFs {
    MemoryFs::new()
        .with_folder("/a/.git")
        .with_file("/a/AGENTS.md", "A")
        .with_folder("/b/.git")
        .with_file("/b/AGENTS.md", "B")
}

fn in_memory(fs: MemoryFs) -> AgentsMdManager {
    AgentsMdManager::on_blocking(Discovery::default(), Arc::new(fs))
}

async fn check(manager: &AgentsMdManager, selections: &Selections, trust: TrustLevel, want: (Refresh, &str)) {
    let refreshed = manager.refresh(selections, trust).await.unwrap();
    assert_eq!((refreshed.refresh, refreshed.loaded.text()), want);
    assert!(Arc::ptr_eq(&manager.get_loaded().unwrap(), &refreshed.loaded));
}

#[tokio::test]
async fn a_refresh_says_why_it_loads() {
    let manager = in_memory(two_folders());
    assert!(manager.get_loaded().is_none());
    check(&manager, &at("/a"), TrustLevel::Trusted, (Refresh::First, "A")).await;
    check(&manager, &at("/a"), TrustLevel::Trusted, (Refresh::Hit, "A")).await;
    check(&manager, &at("/b"), TrustLevel::Trusted, (Refresh::Selections, "B")).await;
    check(&manager, &at("/b"), TrustLevel::Unknown, (Refresh::Trust, "B")).await;
    let sandboxed: Selections = Arc::new([TurnEnvironmentSelection::new("local", "/b").restricted()]);
    check(&manager, &sandboxed, TrustLevel::Unknown, (Refresh::Selections, "B")).await;
    let both: Selections = Arc::new([at("/a")[0].clone(), TurnEnvironmentSelection::new("other", "/b")]);
    let text = "for `local` with root /a\n\nA\n\nfor `other` with root /b\n\nB";
    check(&manager, &both, TrustLevel::Unknown, (Refresh::Selections, text)).await;
    let swapped: Selections = both.iter().rev().cloned().collect();
    assert_eq!(manager.refresh(&swapped, TrustLevel::Unknown).await.unwrap().refresh, Refresh::Selections);
}

#[tokio::test]
async fn d23_trust_is_part_of_the_key() {
    let user = UserSource::Given { text: "GLOBAL".into(), source: None };
    let manager = in_memory(two_folders()).with_host_instructions(HostInstructions::Fixed(user));
    check(&manager, &at("/a"), TrustLevel::Untrusted, (Refresh::First, "GLOBAL")).await;
    check(&manager, &at("/a"), TrustLevel::Trusted, (Refresh::Trust, "GLOBAL\n\n--- project-doc ---\n\nA")).await;
}

#[tokio::test]
async fn b12_an_edited_file_is_seen_after_invalidation_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("AGENTS.md");
    fs::write(&file, "A").unwrap();
    let manager = AgentsMdManager::on_host(Discovery::default());
    let here: Selections = Arc::new([TurnEnvironmentSelection::new("local", folder.path())]);
    check(&manager, &here, TrustLevel::Trusted, (Refresh::First, "A")).await;
    fs::write(&file, "B").unwrap();
    check(&manager, &here, TrustLevel::Trusted, (Refresh::Hit, "A")).await;
    manager.invalidate();
    assert!(manager.get_loaded().is_none());
    check(&manager, &here, TrustLevel::Trusted, (Refresh::Invalidated, "B")).await;
    check(&manager, &here, TrustLevel::Trusted, (Refresh::Hit, "B")).await;
}

#[tokio::test]
async fn b15_a_removed_file_is_gone_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("AGENTS.md");
    fs::write(&file, "A").unwrap();
    let manager = AgentsMdManager::on_host(Discovery::default());
    let here: Selections = Arc::new([TurnEnvironmentSelection::new("local", folder.path())]);
    check(&manager, &here, TrustLevel::Trusted, (Refresh::First, "A")).await;
    fs::remove_file(&file).unwrap();
    manager.invalidate();
    check(&manager, &here, TrustLevel::Trusted, (Refresh::Invalidated, "")).await;
    let again = manager.refresh(&here, TrustLevel::Trusted).await.unwrap();
    assert!(again.refresh.is_hit() && again.loaded.fragment().is_none());
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
async fn a_provider_is_asked_at_each_refresh() {
    let desk = Arc::new(Desk::default());
    let provider = HostInstructions::Provider(Arc::clone(&desk) as Arc<dyn InstructionProvider>);
    let manager = in_memory(two_folders()).with_host_instructions(provider);
    let put = |text: &str| *desk.0.lock().unwrap() = Some(ProvidedInstructions::new(text).from_file("/home/AGENTS.md"));
    check(&manager, &at("/a"), TrustLevel::Trusted, (Refresh::First, "A")).await;
    put("U1");
    check(&manager, &at("/a"), TrustLevel::Trusted, (Refresh::UserInstructions, "U1\n\n--- project-doc ---\n\nA"))
        .await;
    put("U1");
    check(&manager, &at("/a"), TrustLevel::Trusted, (Refresh::Hit, "U1\n\n--- project-doc ---\n\nA")).await;
    let HostInstructions::Fixed(inherited) = manager.inherited_instructions() else {
        panic!("a provider is not inherited")
    };
    assert_eq!(inherited, UserSource::Given { text: "U1".into(), source: Some("/home/AGENTS.md".into()) });
    put(" \n");
    check(&manager, &at("/a"), TrustLevel::Trusted, (Refresh::UserInstructions, "A")).await;
    *desk.0.lock().unwrap() = None;
    check(&manager, &at("/a"), TrustLevel::Trusted, (Refresh::UserInstructions, "A")).await;
}

#[tokio::test]
async fn thread_instructions_come_with_every_load() {
    let manager = in_memory(two_folders()).with_thread(ThreadInstructions::new("THREAD").unwrap());
    let loaded = manager.refresh(&at("/a"), TrustLevel::Untrusted).await.unwrap().loaded;
    assert_eq!((loaded.thread_text(), loaded.text()), (Some("THREAD"), "THREAD"));
}

#[tokio::test]
async fn an_error_leaves_nothing_and_the_next_call_tries_again() {
    let fs = MemoryFs::new()
        .with_folder("/a/.git")
        .with_file("/a/AGENTS.md", "A")
        .with_folder("/x/.git")
        .with_file("/x/AGENTS.md", "X")
        .failing_read("/x/AGENTS.md", ErrorKind::PermissionDenied);
    let manager = in_memory(fs);
    check(&manager, &at("/a"), TrustLevel::Trusted, (Refresh::First, "A")).await;
    let strict: Selections = Arc::new([TurnEnvironmentSelection::new("box", "/x").restricted()]);
    for _ in 0..2 {
        let error = manager.refresh(&strict, TrustLevel::Trusted).await.unwrap_err();
        assert!(error.to_string().contains("/x/AGENTS.md") && error.to_string().contains("`box`"), "{error}");
        assert!(manager.get_loaded().is_none());
    }
    check(&manager, &at("/a"), TrustLevel::Trusted, (Refresh::Selections, "A")).await;
}

/// Files whose reads wait until the test lets them through.
struct Gate {
    reads: AtomicUsize,
    open: Semaphore,
}

impl Gate {
    fn new() -> Arc<Self> {
        Arc::new(Self { reads: AtomicUsize::new(0), open: Semaphore::new(0) })
    }
}

#[async_trait]
impl RemoteFileSystem for Gate {
    async fn probe(&self, asks: &[ProbeAsk]) -> Vec<ProbeAnswer> {
        asks.iter()
            .map(|ask| match ask.path().file_name().and_then(|name| name.to_str()) {
                Some("AGENTS.md") => ProbeAnswer::Found(Found::new(FileKind::File, 1)),
                Some(".git") => ProbeAnswer::Found(Found::new(FileKind::Folder, 0)),
                _ => ProbeAnswer::Absent,
            })
            .collect()
    }

    async fn read(&self, asks: &[ReadAsk]) -> Vec<ReadAnswer> {
        let number = self.reads.fetch_add(1, Ordering::SeqCst);
        self.open.acquire().await.unwrap().forget();
        let text = |ask: &ReadAsk| format!("{} of read {number}", ask.path().display());
        asks.iter().map(|ask| ReadAnswer::Bytes(FileBytes::whole(text(ask).into_bytes()))).collect()
    }
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test]
async fn one_load_serves_all_who_want_the_same() {
    let gate = Gate::new();
    let manager = AgentsMdManager::on_remote(Discovery::default(), Arc::clone(&gate) as Arc<dyn RemoteFileSystem>);
    let key = at("/a");
    let mut first = pin!(manager.refresh(&key, TrustLevel::Trusted));
    let mut second = pin!(manager.refresh(&key, TrustLevel::Trusted));
    assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
    assert!(manager.get_loaded().is_none(), "nothing is visible while a load runs");
    gate.open.add_permits(2);
    let first = first.await.unwrap();
    let second = second.await.unwrap();
    assert_eq!((first.refresh, second.refresh), (Refresh::First, Refresh::Hit));
    assert_eq!(gate.reads.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn b14_an_older_load_never_overwrites_a_newer_one() {
    let gate = Gate::new();
    let manager = AgentsMdManager::on_remote(Discovery::default(), Arc::clone(&gate) as Arc<dyn RemoteFileSystem>);
    let (slow_key, fast_key) = (at("/slow"), at("/fast"));
    let mut slow = pin!(manager.refresh(&slow_key, TrustLevel::Trusted));
    assert!(poll(slow.as_mut()).is_pending());
    let mut fast = pin!(manager.refresh(&fast_key, TrustLevel::Trusted));
    assert!(poll(fast.as_mut()).is_pending());
    gate.open.add_permits(2);
    assert_eq!(fast.await.unwrap().refresh, Refresh::Selections);
    let late = slow.await.unwrap();
    assert!(late.loaded.text().starts_with("/slow/"), "its own caller still gets what it asked for");
    assert!(manager.get_loaded().unwrap().text().starts_with("/fast/"));
}

#[tokio::test]
async fn an_invalidated_load_is_not_kept() {
    let gate = Gate::new();
    let manager = AgentsMdManager::on_remote(Discovery::default(), Arc::clone(&gate) as Arc<dyn RemoteFileSystem>);
    let key = at("/a");
    let mut load = pin!(manager.refresh(&key, TrustLevel::Trusted));
    assert!(poll(load.as_mut()).is_pending());
    manager.invalidate();
    gate.open.add_permits(2);
    assert_eq!(load.await.unwrap().refresh, Refresh::First);
    assert!(manager.get_loaded().is_none());
    assert_eq!(manager.refresh(&key, TrustLevel::Trusted).await.unwrap().refresh, Refresh::Invalidated);
}

#[tokio::test]
async fn a_dropped_load_leaves_nothing_behind_and_wakes_who_waited() {
    let gate = Gate::new();
    let manager = AgentsMdManager::on_remote(Discovery::default(), Arc::clone(&gate) as Arc<dyn RemoteFileSystem>);
    let key = at("/a");
    let mut waiting = pin!(manager.refresh(&key, TrustLevel::Trusted));
    {
        let mut dropped = pin!(manager.refresh(&key, TrustLevel::Trusted));
        assert!(poll(dropped.as_mut()).is_pending());
        assert!(poll(waiting.as_mut()).is_pending());
    }
    gate.open.add_permits(1);
    let refreshed = waiting.await.unwrap();
    assert_eq!((refreshed.refresh, refreshed.loaded.text()), (Refresh::Retry, "/a/AGENTS.md of read 1"));
}

#[tokio::test]
async fn a_reader_that_holds_its_instructions_sees_every_change() {
    let manager = in_memory(two_folders());
    let (a, b) = (at("/a"), at("/b"));
    let mut held = Held::new();
    let mut told = Vec::new();
    for (key, trust) in [
        (&a, TrustLevel::Trusted),
        (&a, TrustLevel::Trusted),
        (&b, TrustLevel::Trusted),
        (&b, TrustLevel::Untrusted),
        (&b, TrustLevel::Untrusted),
    ] {
        let (loaded, refresh) = manager.refresh_held(&mut held, key, trust).await.unwrap();
        told.push((refresh, loaded.text().to_owned()));
    }
    let want = [
        (Refresh::First, "A"),
        (Refresh::Hit, "A"),
        (Refresh::Selections, "B"),
        (Refresh::Trust, ""),
        (Refresh::Hit, ""),
    ];
    assert_eq!(told, want.map(|(refresh, text)| (refresh, text.to_owned())));
    manager.invalidate();
    assert_eq!(manager.refresh_held(&mut held, &b, TrustLevel::Untrusted).await.unwrap().1, Refresh::Invalidated);
    assert_eq!(manager.refresh(&a, TrustLevel::Trusted).await.unwrap().refresh, Refresh::Selections, "somebody else");
    assert_eq!(manager.refresh_held(&mut held, &b, TrustLevel::Untrusted).await.unwrap().1, Refresh::Selections);
}

#[tokio::test]
async fn a_reader_asks_its_provider_every_time_and_holds_nothing_after_an_error() {
    let desk = Arc::new(Desk::default());
    let provider = HostInstructions::Provider(Arc::clone(&desk) as Arc<dyn InstructionProvider>);
    let disk = two_folders().failing_read("/b/AGENTS.md", ErrorKind::PermissionDenied);
    let manager = in_memory(disk).with_host_instructions(provider);
    let a = at("/a");
    let mut held = Held::new();
    assert_eq!(manager.refresh_held(&mut held, &a, TrustLevel::Trusted).await.unwrap().1, Refresh::First);
    *desk.0.lock().unwrap() = Some(ProvidedInstructions::new("U"));
    assert_eq!(manager.refresh_held(&mut held, &a, TrustLevel::Trusted).await.unwrap().1, Refresh::UserInstructions);
    let strict: Selections = Arc::new([TurnEnvironmentSelection::new("box", "/b").restricted()]);
    assert!(manager.refresh_held(&mut held, &strict, TrustLevel::Trusted).await.is_err());
    assert!(held.loaded().is_none());
}

#[test]
fn a_hit_allocates_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let provider = Arc::new(Desk(Mutex::new(Some(ProvidedInstructions::new("U")))));
    let manager = in_memory(two_folders()).with_host_instructions(HostInstructions::Provider(provider));
    let (key, equal) = (at("/a"), at("/a"));
    runtime.block_on(async { manager.refresh(&key, TrustLevel::Trusted).await.unwrap() });
    let mut held = Held::new();
    runtime.block_on(async { manager.refresh_held(&mut held, &key, TrustLevel::Trusted).await.map(drop).unwrap() });
    for key in [&key, &equal] {
        let info = allocation_counter::measure(|| {
            let mut hit = pin!(manager.refresh(key, TrustLevel::Trusted));
            let Poll::Ready(Ok(hit)) = poll(hit.as_mut()) else { panic!("a hit waits for nothing") };
            assert!(hit.refresh.is_hit());
            assert!(manager.get_loaded().is_some());
            let mut hit = pin!(manager.refresh_held(&mut held, key, TrustLevel::Trusted));
            assert!(matches!(poll(hit.as_mut()), Poll::Ready(Ok((_, Refresh::Hit)))));
        });
        assert_eq!(info.count_total, 0);
    }
}
