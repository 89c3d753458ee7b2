//! Law 8 and law 3 on random records and random damage.

use proptest::prelude::*;
use session::rollout::{Draft, LoggedLine, Place, RawJson, RolloutItem, SessionMeta, Trust};

use crate::sample::{log_of, read};

/// One random damage; the numbers are taken modulo what is there.
#[derive(Clone, Debug)]
enum Damage {
    Cut(usize),
    Flip(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let garbage = prop_oneof![
        "[a-z{}\", ]{1,60}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 1..60),
        Just(b"{\"timestamp\":\"2026-10-20T08:00:00.123Z\",\"ordinal\":1,\"type\":\"item\"".to_vec()),
        Just(b",\"crc\":\"00000000\"}".to_vec()),
    ];
    prop_oneof![
        any::<usize>().prop_map(Damage::Cut),
        (any::<usize>(), 1_u8..).prop_map(|(at, mask)| Damage::Flip(at, mask)),
        (any::<usize>(), garbage).prop_map(|(line, text)| Damage::Insert(line, text)),
        (any::<usize>(), 1_usize..80).prop_map(|(at, len)| Damage::Remove(at, len)),
    ]
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let text = prop_oneof![
        "\\PC{0,40}",
        Just(String::from("{\"timestamp\":\"x\"}\n,\"crc\":\"00000000\"}")),
        Just(String::from("\u{0}\r\n\u{2028}")),
    ];
    proptest::collection::vec(text, 1..12)
}

fn log(texts: &[String]) -> Vec<u8> {
    let header = RolloutItem::SessionMeta(SessionMeta::new("s1")).into();
    let items = texts.iter().map(|text| RolloutItem::Usage(RawJson::string(text)).into());
    log_of(&[header].into_iter().chain(items).collect::<Vec<Draft>>())
}

/// The log after the damage, and for each old byte where it is now.
fn hit(log: &[u8], damage: &Damage) -> (Vec<u8>, Vec<Option<usize>>) {
    let mut bytes = log.to_vec();
    let mut now: Vec<_> = (0..log.len()).map(Some).collect();
    match damage {
        Damage::Cut(at) => {
            let at = at % log.len();
            bytes.truncate(at);
            now[at..].fill(None);
        }
        Damage::Flip(at, mask) => {
            let at = at % log.len();
            bytes[at] ^= mask;
            now[at] = None;
        }
        Damage::Insert(line, text) => {
            let starts: Vec<_> =
                log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
            let at = starts[line % starts.len()];
            bytes.splice(at..at, text.iter().copied().chain([b'\n']));
            now[at..].iter_mut().flatten().for_each(|place| *place += text.len() + 1);
        }
        Damage::Remove(at, len) => {
            let at = at % log.len();
            let end = (at + len).min(log.len());
            bytes.drain(at..end);
            now[at..end].fill(None);
            now[end..].iter_mut().flatten().for_each(|place| *place -= end - at);
        }
    }
    (bytes, now)
}

/// Where the line of an undamaged record starts now; none if one of its bytes is gone.
fn survives(line: &LoggedLine, now: &[Option<usize>]) -> Option<usize> {
    let start = usize::try_from(line.offset()).unwrap();
    let places = &now[start..start + line.text().len()];
    let first = places[0]?;
    places.iter().enumerate().all(|(index, place)| *place == Some(first + index)).then_some(first)
}

proptest! {
    #![proptest_config(at_least(2_000))]

    /// Every undamaged record is delivered from its place, and every byte of damage lies in a finding.
    #[test]
    fn law_8_nothing_lost_nothing_hidden(texts in texts(), damage in damage()) {
        let whole = log(&texts);
        let (before, _) = read(&whole);
        let (bytes, now) = hit(&whole, &damage);
        let (after, report) = read(&bytes);
        let mut delivered = Vec::new();
        for line in &before {
            let Some(place) = survives(line, &now) else { continue };
            let found = after.iter().find(|found| found.offset() == place as u64);
            prop_assert_eq!(found.map(LoggedLine::text), Some(line.text()));
            prop_assert_eq!(found.map(LoggedLine::trust), Some(Trust::Whole));
            delivered.push(place as u64);
        }
        // Nothing is made up. (Lines start alike, so what is left of two of them can be one of them again.)
        for line in &after {
            let is_old = before.iter().any(|old| old.text() == line.text());
            prop_assert!(is_old || line.trust().is_edited(), "{:?} is no record", line.text());
        }
        // Bytes are delivered as part of a whole record, are newlines or blank, or are in a finding.
        let mut covered = vec![false; bytes.len()];
        for line in after.iter().filter(|line| line.trust() == Trust::Whole) {
            let start = usize::try_from(line.offset()).unwrap();
            covered[start..start + line.text().len()].fill(true);
        }
        for finding in &report.findings {
            let start = usize::try_from(finding.offset).unwrap();
            let end = start + usize::try_from(finding.len).unwrap();
            prop_assert!(end <= bytes.len());
            covered[start..end].fill(true);
        }
        let hidden = bytes.iter().zip(&covered).position(|(byte, covered)| !covered && !matches!(byte, b'\n' | b'\r' | b' ' | b'\t'));
        prop_assert_eq!(hidden, None, "hidden bytes; findings: {:?}", report.findings);
        // A record that is gone from the middle leaves a gap in the ordinals or damage in its place.
        if delivered.len() < before.len() && after.last().map(LoggedLine::ordinal) == before.last().map(LoggedLine::ordinal) {
            prop_assert!(!report.is_clean());
        }
        prop_assert!(after.iter().filter(|line| line.trust() == Trust::Whole).all(|line| line.place() == Place::InOrder));
    }

    /// Law 3, for the log: a payload comes out byte for byte, also from a copy.
    #[test]
    fn law_3_payloads_are_the_bytes_that_were_given(texts in texts()) {
        let (lines, report) = read(&log(&texts));
        prop_assert!(report.is_clean());
        let copies: Vec<_> = lines.iter().map(LoggedLine::to_draft).collect();
        let (copied, _) = read(&log_of(&copies));
        for (index, text) in texts.iter().enumerate() {
            let want = RawJson::string(text);
            prop_assert_eq!(lines[index + 1].payload().unwrap().as_raw(), want.as_str());
            prop_assert_eq!(copied[index + 1].text(), lines[index + 1].text());
        }
    }

    /// No bytes at all bring a reader down.
    #[test]
    fn any_bytes_are_read_to_the_end(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let (_, report) = read(&bytes);
        prop_assert!(report.append_at <= bytes.len() as u64);
        let events = session::rollout::CodexReader::new(&bytes[..]);
        prop_assert!(events.count() <= bytes.len());
    }
}

/// As many cases as asked for with `PROPTEST_CASES`, and never fewer than `cases`.
pub(crate) fn at_least(cases: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig { cases: asked.cases.max(cases), failure_persistence: None, ..asked }
}
