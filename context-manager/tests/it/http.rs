//! The body of a prompt as a buffer and as an HTTP body.

use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
};

use bytes::{Buf, Bytes};
use context_manager::{BodyBuf, ContextManager, HttpBody, Profile, Projector, Prompt};
use http_body::Body;

use crate::setup::{assistant, manager_of, parts, prompt, user};

fn prompts() -> [Prompt; 3] {
    let long = manager_of((0..200).map(|number| assistant(&format!("{number} {}", "x".repeat(300)))));
    [
        prompt(&ContextManager::new()),
        prompt(&manager_of([user("a"), assistant("é")])),
        Projector::new(Profile::responses()).prompt(&long, &parts()),
    ]
}

#[test]
fn a_buffer_gives_the_bytes_in_steps_of_every_size() {
    for made in prompts() {
        let want = made.input_json();
        for step in [1, 7, 4_096, usize::MAX] {
            let mut buffer = BodyBuf::from(made.body());
            assert_eq!(buffer.remaining(), want.len());
            let mut read = Vec::new();
            while buffer.has_remaining() {
                let taken = buffer.chunk().len().min(step);
                read.extend_from_slice(&buffer.chunk()[..taken]);
                buffer.advance(taken);
            }
            assert_eq!(read, want.as_bytes());
            assert_eq!(buffer.chunk(), b"");
        }
        // A step may go over the borders of chunks.
        let mut buffer = BodyBuf::new(made.body());
        buffer.advance(want.len() - 1);
        assert_eq!((buffer.remaining(), buffer.chunk()), (1, &b"]"[..]));
        assert_eq!(BodyBuf::new(made.body()).copy_to_bytes(want.len()), want);
    }
}

#[test]
#[should_panic(expected = "cannot go 3 bytes on, 2 are left")]
fn a_buffer_does_not_go_beyond_its_end() {
    BodyBuf::new(prompt(&ContextManager::new()).body()).advance(3);
}

#[test]
fn an_http_body_knows_its_length_and_gives_every_byte() {
    for made in prompts() {
        let want = made.input_json();
        let mut body = HttpBody::from(made.body());
        let mut read = Vec::new();
        let mut context = Context::from_waker(Waker::noop());
        loop {
            let left = body.size_hint().exact().expect("the length is known");
            assert_eq!(left, (want.len() - read.len()) as u64);
            assert_eq!(body.is_end_stream(), left == 0);
            match Pin::new(&mut body).poll_frame(&mut context) {
                Poll::Ready(Some(Ok(frame))) => read.extend(frame.into_data().expect("a frame of data")),
                Poll::Ready(None) => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(read, want.as_bytes());
    }
}

#[test]
fn a_chunk_is_no_copy() {
    let made = prompt(&manager_of([user("a")]));
    let item = made.body().nth(1).expect("the item");
    let place = item.as_ptr();
    assert_eq!(Bytes::from(item).as_ptr(), place);
}
