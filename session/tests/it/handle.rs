//! The asynchronous handle: order, and what a dropped call leaves.

use std::{
    future::Future,
    pin::{Pin, pin},
    task::{Context, Waker},
};

use session::{
    Error,
    rollout::{Appended, AsyncLog, Draft, Durability, LogWriter, RawJson, RolloutItem, WriterStart},
};

use crate::sample::{AT_MS, SharedFile, read};

fn item(number: usize) -> Draft {
    RolloutItem::Usage(RawJson::parse(&number.to_string()).unwrap()).into()
}

fn log(file: &SharedFile) -> AsyncLog<SharedFile> {
    AsyncLog::new(LogWriter::new(file.clone(), "log", WriterStart::NEW))
}

fn numbers(file: &SharedFile) -> Vec<usize> {
    let (lines, _) = read(&file.bytes());
    lines.iter().map(|line| line.payload().unwrap().as_raw().parse().unwrap()).collect()
}

/// Polls once. The caller holds the file, so no call can end meanwhile.
fn poll(call: Pin<&mut (impl Future<Output = Result<Appended, Error>> + ?Sized)>) {
    assert!(call.poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_are_served_in_the_order_in_which_they_were_polled() {
    let file = SharedFile::default();
    let log = log(&file);
    let mut calls = Vec::new();
    file.with(|_| {
        for number in 0..200 {
            let handle = log.clone();
            let mut call = Box::pin(async move { handle.append(AT_MS, vec![item(number)], Durability::Flush).await });
            poll(call.as_mut());
            calls.push(call);
        }
    });
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap().first, number as u64);
    }
    assert_eq!(numbers(&file), (0..200).collect::<Vec<_>>());
}

/// Dropped before its turn: nothing. Dropped while it writes: everything.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_dropped_call_is_whole_or_nothing_and_the_next_one_starts_clean() {
    for round in 0..100 {
        let file = SharedFile::default();
        let log = log(&file);
        file.with(|state| {
            state.faults.max_append = Some(7);
            let mut writing = pin!(log.append(AT_MS, vec![item(1), item(2)], Durability::DataSync));
            poll(writing.as_mut());
            let mut waiting = pin!(log.append(AT_MS, vec![item(3)], Durability::Flush));
            if round % 2 == 0 {
                poll(waiting.as_mut());
            }
        });
        let last = log.append(AT_MS, vec![item(4)], Durability::Flush).await.unwrap();
        assert_eq!(last.first, 2, "{round}");
        assert_eq!(numbers(&file), [1, 2, 4], "{round}");
    }
}

#[tokio::test]
async fn errors_of_the_writer_come_through() {
    let file = SharedFile::default();
    let log = log(&file);
    file.with(|state| state.faults.free = Some(10));
    assert!(log.append(AT_MS, vec![item(1)], Durability::Flush).await.unwrap_err().is_retryable());
    file.with(|state| state.faults.free = None);
    log.append(AT_MS, vec![item(2)], Durability::Flush).await.unwrap();
    assert_eq!((log.sync().await.unwrap().synced_through, log.next_ordinal().await), (Some(0), 1));
}
