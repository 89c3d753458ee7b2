//! Reads of any size, pages and heads.

use super::{AT_MS, Harness, Outcome, created, draft, ensure, read, said};
use crate::{
    rollout::Durability,
    store::{Store, page_backward, page_forward, page_of_heads},
};

fn filled(harness: &dyn Harness) -> Result<Box<dyn Store>, String> {
    let (mut store, start) = created(harness)?;
    for (number, next) in (0..60_usize).zip(start.last + 1..) {
        let text = format!("{number} {}", "x".repeat(number * 37 % 900));
        store.append(next, AT_MS, &[draft(&text)], Durability::Flush).map_err(said)?;
    }
    Ok(store)
}

pub(super) fn short_reads(harness: &mut dyn Harness) -> Outcome {
    drop(filled(harness)?);
    let mut store = harness.open();
    let len = store.len().map_err(said)?;
    let mut all: Vec<Vec<u8>> = Vec::new();
    for size in [1, 7, 4096, 1 << 20] {
        let (mut bytes, mut chunk) = (Vec::new(), vec![0; size]);
        loop {
            let read = store.read(bytes.len() as u64, &mut chunk).map_err(said)?;
            ensure(read <= size, || format!("{read} bytes into a buffer of {size}"))?;
            if read == 0 {
                break;
            }
            bytes.extend_from_slice(&chunk[..read]);
        }
        ensure(bytes.len() as u64 == len, || format!("{} bytes of {len} in reads of {size}", bytes.len()))?;
        all.push(bytes);
    }
    ensure(all.windows(2).all(|pair| pair[0] == pair[1]), || "the bytes depend on the size of the reads".into())?;
    let mut some = [0; 8];
    let beyond = store.read(len + 10, &mut some).map_err(said)?;
    let nothing = store.read(0, &mut []).map_err(said)?;
    ensure((beyond, nothing) == (0, 0), || format!("{beyond} bytes behind the end, {nothing} into no buffer"))
}

pub(super) fn pages_agree(harness: &mut dyn Harness) -> Outcome {
    drop(filled(harness)?);
    let mut store = harness.open();
    let (lines, _) = read(store.as_mut())?;
    let whole: Vec<_> = lines.iter().map(|line| line.text().to_owned()).collect();
    for max_bytes in [1, 1000, 1 << 20] {
        let (mut forward, mut at) = (Vec::new(), Some(0));
        while let Some(from) = at {
            let page = page_forward(store.as_mut(), from, max_bytes).map_err(said)?;
            ensure(!page.lines.is_empty() && page.report.is_clean(), || format!("an empty page at {from}"))?;
            forward.extend(page.lines.iter().map(|line| line.text().to_owned()));
            at = page.next;
        }
        let (mut backward, mut at) = (Vec::new(), Some(store.len().map_err(said)?));
        while let Some(to) = at {
            let page = page_backward(store.as_mut(), to, max_bytes).map_err(said)?;
            ensure(!page.lines.is_empty() && page.report.is_clean(), || format!("an empty page before {to}"))?;
            backward.extend(page.lines.iter().map(|line| line.text().to_owned()));
            at = page.next;
        }
        backward.reverse();
        ensure(forward == whole && backward == whole, || format!("pages of {max_bytes} bytes hold other records"))?;
    }
    let (mut heads, mut at) = (Vec::new(), Some(0));
    while let Some(from) = at {
        let (page, next) = page_of_heads(store.as_mut(), from, 9).map_err(said)?;
        heads.extend(page.into_iter().map(|head| (head.offset, head.ordinal, head.type_name, head.version)));
        at = next;
    }
    let want = lines.iter().map(|line| (line.offset(), line.ordinal(), line.type_name().to_owned(), line.version()));
    ensure(heads.iter().cloned().eq(want), || format!("{} heads of {} records", heads.len(), lines.len()))
}
