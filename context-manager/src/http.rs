//! The body of a prompt as the HTTP stack takes it.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};

use crate::{Chunk, Chunks};

/// The bytes of a chunk; nothing is copied.
impl From<Chunk> for Bytes {
    fn from(chunk: Chunk) -> Self {
        Self::from_owner(chunk)
    }
}

/// The bytes of [`Chunks`] as a buffer: a chunk at a time, nothing is copied.
#[derive(Clone, Debug)]
pub struct BodyBuf {
    chunks: Chunks,
    current: Bytes,
    left: usize,
}

impl BodyBuf {
    /// Takes chunks; counts their bytes.
    #[must_use]
    pub fn new(mut chunks: Chunks) -> Self {
        let left = chunks.clone().map(|chunk| chunk.len()).sum();
        let current = chunks.next().map(Bytes::from).unwrap_or_default();
        Self { chunks, current, left }
    }
}

impl From<Chunks> for BodyBuf {
    fn from(chunks: Chunks) -> Self {
        Self::new(chunks)
    }
}

impl Buf for BodyBuf {
    fn remaining(&self) -> usize {
        self.left
    }

    fn chunk(&self) -> &[u8] {
        &self.current
    }

    /// # Panics
    /// If `count` is more than what is left, as that of every buffer does.
    #[expect(clippy::panic, reason = "the trait asks for a panic")]
    fn advance(&mut self, count: usize) {
        if count > self.left {
            panic!("cannot go {count} bytes on, {} are left", self.left);
        }
        self.left -= count;
        let mut count = count;
        // No chunk is empty, so that an empty current one says that all was read.
        while count >= self.current.len() && !self.current.is_empty() {
            count -= self.current.len();
            self.current = self.chunks.next().map(Bytes::from).unwrap_or_default();
        }
        self.current.advance(count);
    }
}

/// [`Chunks`] as the body of an HTTP request: always ready, never failing, of known length.
///
/// # Example
/// ```
/// use context_manager::{ContextManager, HttpBody, Model, Parts, Profile};
/// use http_body::Body;
///
/// let prompt = ContextManager::new().for_prompt(&Parts::new(Model::new("m1")), &Profile::responses());
/// assert_eq!(HttpBody::new(prompt.body()).size_hint().exact(), Some(2));
/// ```
#[derive(Clone, Debug)]
pub struct HttpBody {
    chunks: Chunks,
    left: u64,
}

impl HttpBody {
    /// Takes chunks; counts their bytes.
    #[must_use]
    pub fn new(chunks: Chunks) -> Self {
        let left = chunks.clone().map(|chunk| u64::try_from(chunk.len()).unwrap_or(u64::MAX)).sum();
        Self { chunks, left }
    }
}

impl From<Chunks> for HttpBody {
    fn from(chunks: Chunks) -> Self {
        Self::new(chunks)
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let body = self.get_mut();
        let chunk = body.chunks.next().map(Bytes::from);
        let read = chunk.as_ref().map_or(0, |chunk| u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        body.left = body.left.saturating_sub(read);
        Poll::Ready(chunk.map(|chunk| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
