//! Records: what goes in comes out.

use context_fragments::WireItem;
use session::rollout::{Draft, Record, RolloutItem, expand_blobs};

use crate::sample::{log_of, raw, read, records};

#[test]
fn every_type_of_record_comes_out_as_it_went_in() {
    let want = records();
    let (lines, report) = read(&log_of(&want.iter().cloned().map(Draft::from).collect::<Vec<_>>()));
    let found: Vec<Record> = lines.iter().map(|line| line.decode().unwrap()).collect();
    assert_eq!(found, want);
    assert!(report.is_clean(), "{:?}", report.findings);
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
