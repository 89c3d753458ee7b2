//! Reading from the end.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use context_fragments::WireItem;
use session::rollout::{
    Checkpoint, CheckpointCause, CheckpointItem, Draft, Metadata, ReadLimits, RecordReader, RolloutItem, SessionMeta,
    last_checkpoint,
};

use crate::sample::{log_of, read};

fn item(index: usize) -> Draft {
    RolloutItem::Item(WireItem::user_text(&format!("item {index} {}", "x".repeat(index % 7 * 40)))).into()
}

fn checkpoint(text: &str) -> Draft {
    let items = vec![CheckpointItem::new(WireItem::user_text(text), Metadata::new())];
    RolloutItem::Checkpoint(Checkpoint::new(CheckpointCause::Request, items)).into()
}

/// A log with checkpoints at these ordinals.
fn log(n: usize, checkpoints: &[usize]) -> Vec<u8> {
    let drafts: Vec<_> = (0..n)
        .map(|ordinal| match ordinal {
            0 => RolloutItem::SessionMeta(SessionMeta::new("s1")).into(),
            // An item whose text looks like a checkpoint is none.
            1 => RolloutItem::Item(WireItem::user_text("{\"timestamp\":\"\",\"ordinal\":1,\"type\":\"checkpoint\""))
                .into(),
            _ if checkpoints.contains(&ordinal) => checkpoint("window"),
            _ => item(ordinal),
        })
        .collect();
    log_of(&drafts)
}

/// Counts what is read.
struct Counted(Cursor<Vec<u8>>, u64);

impl Read for Counted {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(bytes)?;
        self.1 += read as u64;
        Ok(read)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn the_newest_checkpoint_is_found() {
    for (checkpoints, want) in [(&[][..], None), (&[5], Some(5)), (&[5, 90], Some(90)), (&[2, 3, 199], Some(199))] {
        let log = log(200, checkpoints);
        let place = last_checkpoint(&mut Cursor::new(&log), ReadLimits::default()).unwrap();
        assert_eq!(place.map(|place| place.ordinal), want);
        let Some(place) = place else { continue };
        let offset = usize::try_from(place.offset).unwrap();
        let mut reader = RecordReader::starting_at(&log[offset..], ReadLimits::default(), place.offset, place.ordinal);
        let first = reader.next().unwrap().unwrap();
        assert_eq!((first.type_name(), first.offset()), ("checkpoint", place.offset));
        assert_eq!(reader.by_ref().count() as u64, 199 - place.ordinal);
        assert!(reader.report().is_clean());
    }
}

#[test]
fn a_damaged_checkpoint_is_passed_over() {
    let mut log = log(200, &[5, 90]);
    let at = read(&log).0[90].offset();
    log[usize::try_from(at).unwrap() + 100] ^= 1;
    let place = last_checkpoint(&mut Cursor::new(&log), ReadLimits::default()).unwrap().unwrap();
    assert_eq!(place.ordinal, 5);
}

#[test]
fn what_stands_before_the_checkpoint_is_not_read() {
    let log = log(20_000, &[19_900]);
    let window = (read(&log).0[19_900].offset(), log.len() as u64);
    let mut file = Counted(Cursor::new(log), 0);
    last_checkpoint(&mut file, ReadLimits::default()).unwrap().unwrap();
    // The window, rounded up to blocks, and the checkpoint itself once more.
    assert!(
        file.1 <= (window.1 - window.0) + 2 * 64 * 1024,
        "{} bytes for a window of {}",
        file.1,
        window.1 - window.0
    );
}
