//! A store as a file.

use std::io::{self, Read, Seek, SeekFrom};

use super::Store;

/// Reads the log of a store as a file, for [`RecordReader`](crate::rollout::RecordReader),
/// [`last_checkpoint`](crate::rollout::last_checkpoint) and the others.
#[derive(Debug)]
pub struct StoreReader<'a, S: Store + ?Sized> {
    store: &'a mut S,
    at: u64,
}

impl<'a, S: Store + ?Sized> StoreReader<'a, S> {
    /// Reads from the start of the log.
    pub const fn new(store: &'a mut S) -> Self {
        Self { store, at: 0 }
    }
}

impl<S: Store + ?Sized> Read for StoreReader<'_, S> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.store.read(self.at, bytes).map_err(io::Error::other)?;
        if read > bytes.len() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the store read more than it was asked for"));
        }
        self.at += read as u64;
        Ok(read)
    }
}

impl<S: Store + ?Sized> Seek for StoreReader<'_, S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.store.len().map_err(io::Error::other)?.checked_add_signed(by),
        };
        self.at = target.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}
