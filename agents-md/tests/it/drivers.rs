//! The drivers: the same answer from each, and few trips.

use agents_md::{
    Discovery, FileSystem as _, Inputs, MemoryFs, Plan, Step, TurnEnvironmentSelection, UserSource, discover_blocking,
};

fn tree() -> MemoryFs {
    MemoryFs::new()
        .with_file("/home/AGENTS.override.md", "")
        .with_file("/home/AGENTS.md", "HOME")
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "ROOT")
        .with_file("/r/a/AGENTS.override.md", " ")
        .with_file("/r/a/AGENTS.md", "A")
        .with_file("/s/AGENTS.md", "S")
}

fn inputs() -> Inputs {
    let selections = vec![TurnEnvironmentSelection::new("one", "/r/a"), TurnEnvironmentSelection::new("two", "/s")];
    Inputs::new(selections).with_user(UserSource::Folder("/home".into()))
}

#[test]
fn a_wrong_number_of_answers_is_an_error() {
    let Step::Probe(round) = Plan::start(&Discovery::default(), &inputs()).unwrap() else {
        panic!("markers come first");
    };
    let asked = round.asks().len();
    let error = round.answer(Vec::new()).unwrap_err();
    assert_eq!(error, {
        let text = format!("{asked} paths were asked about and 0 answers came back");
        assert_eq!(error.to_string(), text);
        error.clone()
    });
    assert!(error.is_misuse() && error.io_kind().is_none());
}

#[test]
fn one_at_a_time_asks_no_more_than_it_must() {
    let fs = tree();
    discover_blocking(&Discovery::default(), &inputs(), &fs).unwrap();
    let paths: Vec<String> = fs.accesses().iter().map(|access| access.path.display().to_string()).collect();
    assert!(!paths.contains(&"/.git".to_owned()) || paths.contains(&"/s/.git".to_owned()));
    let first = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.override.md", "OVERRIDE")
        .with_file("/r/AGENTS.md", "PLAIN");
    discover_blocking(&Discovery::default(), &Inputs::local("/r"), &first).unwrap();
    let asked: Vec<String> = first.accesses().iter().map(|a| format!("{:?} {}", a.op, a.path.display())).collect();
    let want = ["Probe /r/.git", "Probe /r/AGENTS.override.md", "Probe /r/AGENTS.md", "Read /r/AGENTS.override.md"];
    assert_eq!(asked, want);
}

#[test]
fn batches_hold_each_path_once() {
    let fs = tree();
    let mut step = Plan::start(&Discovery::default(), &inputs()).unwrap();
    let mut sizes = Vec::new();
    let loaded = loop {
        step = match step {
            Step::Probe(round) => {
                sizes.push(round.asks().len());
                let answers = round.asks().iter().map(|ask| fs.probe(ask).0).collect();
                round.answer(answers).unwrap()
            }
            Step::Read(round) => {
                sizes.push(round.asks().len());
                let answers = round.asks().iter().map(|ask| fs.read(ask, None)).collect();
                round.answer(answers).unwrap()
            }
            Step::Done(loaded) => break loaded,
        };
    };
    // Two of the user and the markers of /r/a, /r, / and /s, /; the candidates of /r, /r/a and /s; the files that are there.
    assert_eq!(sizes, [7, 6, 6]);
    let blocking = discover_blocking(&Discovery::default(), &inputs(), &fs).unwrap();
    assert_eq!(loaded.text(), blocking.text());
    assert_eq!(loaded.entries(), blocking.entries());
}

#[cfg(feature = "tokio")]
mod asynchronous {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use agents_md::{Error, ProbeAnswer, ProbeAsk, ReadAnswer, ReadAsk, RemoteFileSystem, discover, discover_on_host};

    use super::*;

    /// Counts the trips, and can lose the last answer of each.
    struct Wire {
        fs: MemoryFs,
        trips: AtomicUsize,
        lost: usize,
    }

    #[async_trait::async_trait]
    impl RemoteFileSystem for Wire {
        async fn probe(&self, asks: &[ProbeAsk]) -> Vec<ProbeAnswer> {
            self.trips.fetch_add(1, Ordering::Relaxed);
            RemoteFileSystem::probe(&self.fs, &asks[self.lost..]).await
        }

        async fn read(&self, asks: &[ReadAsk]) -> Vec<ReadAnswer> {
            self.trips.fetch_add(1, Ordering::Relaxed);
            RemoteFileSystem::read(&self.fs, &asks[self.lost..]).await
        }
    }

    #[tokio::test]
    async fn a_remote_discovery_takes_three_trips() {
        for discovery in [Discovery::default(), Discovery::codex()] {
            let wire = Wire { fs: tree(), trips: AtomicUsize::new(0), lost: 0 };
            let loaded = discover(&discovery, &inputs(), &wire).await.unwrap();
            assert_eq!(wire.trips.load(Ordering::Relaxed), 3);
            assert_eq!(loaded.text(), discover_blocking(&discovery, &inputs(), &tree()).unwrap().text());
        }
    }

    #[tokio::test]
    async fn a_remote_that_loses_answers_is_an_error() {
        let wire = Wire { fs: tree(), trips: AtomicUsize::new(0), lost: 1 };
        let error = discover(&Discovery::default(), &inputs(), &wire).await.unwrap_err();
        assert!(matches!(error, Error::AnswerCount { .. }), "{error:?}");
    }

    #[tokio::test]
    async fn nothing_to_do_takes_no_trip() {
        let wire = Wire { fs: tree(), trips: AtomicUsize::new(0), lost: 0 };
        let loaded = discover(&Discovery::default(), &Inputs::default(), &wire).await.unwrap();
        assert!(loaded.is_empty());
        assert_eq!(wire.trips.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn the_host_is_read_in_a_blocking_task() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("AGENTS.md"), "HERE").unwrap();
        let loaded = discover_on_host(Discovery::default(), Inputs::local(root.path())).await.unwrap();
        assert_eq!(loaded.text(), "HERE");
    }
}
