//! Records: what goes in comes out.

use std::io::Cursor;

use context_fragments::{Kind, WireItem};
use session::{
    CallState,
    rollout::{
        Checkpoint, CheckpointCause, ClosedCall, Draft, Events, LoggedOrigin, Metadata, Record, RolloutItem,
        TurnAborted, expand_blobs,
    },
};

use crate::sample::{log_of, raw, read, records};

#[test]
fn every_type_of_record_comes_out_as_it_went_in() {
    let want = records();
    let (lines, report) = read(&log_of(&want.iter().cloned().map(Draft::from).collect::<Vec<_>>()));
    let found: Vec<Record> = lines.iter().map(|line| line.decode().unwrap()).collect();
    assert_eq!(found, want);
    assert!(report.is_clean(), "{:?}", report.findings);
}

#[test]
fn what_became_of_calls_comes_out_as_it_went_in_and_a_new_word_says_nothing() {
    let calls = vec![
        ClosedCall::new(3, CallState::NotStarted),
        ClosedCall::new(5, CallState::ResultUnknown),
        ClosedCall::new(8, CallState::Partial("half of \"it\"\n".into())),
    ];
    let aborted = TurnAborted::new("t1", "interrupted").with_calls(calls.clone());
    let mut checkpoint = Checkpoint::new(CheckpointCause::Fork, Vec::new());
    checkpoint.calls = calls;
    let want = [RolloutItem::TurnAborted(aborted), RolloutItem::Checkpoint(checkpoint)];
    let (lines, _) = read(&log_of(&want.clone().map(Draft::from)));
    let list = r#""calls":[{"call":3,"state":"not_started"},{"call":5,"state":"result_unknown"},{"call":8,"state":"partial","text":"half of \"it\"\n"}]"#;
    for (line, want) in lines.iter().zip(want) {
        assert!(line.text().contains(list), "{}", line.text());
        assert_eq!(line.decode().unwrap().item, want);
    }
    let newer = raw(r#"{"turn_id":"t1","calls":[{"call":1,"state":"dreamt"},{"call":2,"state":"not_started"}]}"#);
    let other = RolloutItem::Other { type_name: "turn_aborted".into(), version: 1, payload: newer };
    let RolloutItem::TurnAborted(read_back) = read(&log_of(&[other.into()])).0[0].decode().unwrap().item else {
        panic!("it is one of ours")
    };
    assert_eq!(read_back.calls, [ClosedCall::new(2, CallState::NotStarted)]);
}

/// Law 3, for the log: the payload of an item is its wire bytes.
#[test]
fn the_payload_of_an_item_is_its_wire_bytes() {
    let odd = r#"{"type":"anything_new","b":1e2,"a":12345678901234567890123,"a":"\ud800","\u0062":[ "x y" ],"n":null}"#;
    let item = WireItem::parse(odd.as_bytes()).unwrap();
    let (lines, _) = read(&log_of(&[RolloutItem::Item(item.clone()).into()]));
    assert_eq!(lines[0].payload().unwrap().as_raw(), item.as_str());
    assert_eq!(lines[0].decode().unwrap().item, RolloutItem::Item(item));
}

#[test]
fn a_world_state_comes_out_byte_for_byte() {
    for line in read(&log_of(&records().into_iter().map(Draft::from).collect::<Vec<_>>())).0 {
        if let RolloutItem::WorldState(state) = line.decode().unwrap().item {
            assert!(line.payload().unwrap().as_raw().ends_with(&format!("\"state\":{}}}", state.state())));
        }
    }
}

#[test]
fn a_blob_that_is_not_what_the_record_names_is_refused() {
    let record = records().into_iter().find(|record| !record.blobs.is_empty()).unwrap();
    let RolloutItem::Item(item) = &record.item else { panic!("{record:?}") };
    let whole = expand_blobs(item.as_str(), &record.blobs, |_| Ok(b"AAAA".to_vec())).unwrap();
    assert_eq!(whole, r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"AAAA"}]}"#);
    for wrong in [&b"AAAB"[..], b"AAA", b""] {
        let error = expand_blobs(item.as_str(), &record.blobs, |_| Ok(wrong.to_vec())).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("blob {} is not the 4 bytes that the record names", record.blobs[0].sha256)
        );
    }
    let mut far = record.blobs.clone();
    far[0].offset = 9_000;
    expand_blobs(item.as_str(), &far, |_| Ok(b"AAAA".to_vec())).unwrap_err();
}

#[test]
fn a_misshapen_payload_names_its_place() {
    let other = RolloutItem::Other { type_name: "sent".into(), version: 1, payload: raw(r#"{"turn_id":"t1"}"#) };
    let (lines, _) = read(&log_of(&[other.into()]));
    assert_eq!(lines[0].decode().unwrap_err().to_string(), "sent.parameters: expected a digest");
}

/// The text of an item and what is known of it are two allocations, and its kinds are a third one. The line, the time stamp,
/// the turn and the model are those of the record before.
#[test]
fn an_item_takes_two_allocations_when_it_is_read() {
    const ITEMS: u64 = 1_000;
    let metadata = Metadata::new().with_turn_id("t1").with_origin(LoggedOrigin::Model);
    let with_model = {
        let mut metadata = metadata.clone();
        metadata.model = Some("m1".into());
        metadata
    };
    for (metadata, each) in [
        (metadata.clone(), 2),
        (with_model, 2),
        (Metadata::new(), 2),
        (metadata.with_kinds([Kind::USER_TEXT]).with_origin(LoggedOrigin::User), 3),
    ] {
        let item = |position| {
            let item = WireItem::user_text(&"a long text\n".repeat(100));
            let mut metadata = metadata.clone();
            metadata.position = (metadata != Metadata::new()).then_some(position);
            Record::from(RolloutItem::Item(item)).with_metadata(metadata).into()
        };
        let log = log_of(&(0..ITEMS).map(item).collect::<Vec<Draft>>());
        let mut found = 0;
        let taken = allocation_counter::measure(|| {
            found = Events::open(Cursor::new(&log)).unwrap().filter(|event| event.is_ok()).count() as u64;
        });
        assert_eq!(found, ITEMS);
        let rest = taken.count_total - each * ITEMS;
        assert!(rest < 64, "{rest} allocations beside {each} for each of {ITEMS} items");
        assert!(taken.bytes_max < 256 * 1024, "{} bytes were held at once", taken.bytes_max);
    }
}
