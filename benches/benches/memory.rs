//! What a history holds in memory, counted by the allocator, beside the bytes of its items on the wire.
//!
//! It is no timing: it prints one line for each size, and fails where the goal is missed.
#![expect(clippy::print_stdout, reason = "a bench speaks")]

use addenda_benches::{SIZES, corpus, naive, ours};
use allocation_counter::measure;

/// The goal at 100,000 items, in bytes of memory for each byte of the items.
const GOAL: f64 = 1.25;

fn main() {
    println!("| items | bytes on the wire | addenda | naive |\n|---:|---:|---:|---:|");
    for len in SIZES {
        let n_bytes: usize = corpus::conversation(len).iter().map(|spec| spec.json().len()).sum();
        let (mut manager, mut history) = (None, None);
        let ours = measure(|| manager = Some(ours::manager_of_corpus(len))).bytes_current;
        let naive = measure(|| history = Some(naive::History::of_corpus(len))).bytes_current;
        assert!(manager.is_some_and(|manager| manager.history().item_count() == len));
        assert!(history.is_some_and(|history| history.len() == len));
        #[expect(clippy::cast_precision_loss, reason = "the sizes are far below 2^52")]
        let share = |held: i64| held as f64 / n_bytes as f64;
        println!("| {len} | {n_bytes} | {:.3} | {:.3} |", share(ours), share(naive));
        if len == 100_000 {
            assert!(share(ours) <= GOAL, "{:.3} bytes for each byte, and {GOAL} are the goal", share(ours));
            println!("\nG14, {len} items: {:.3} <= {GOAL}: met", share(ours));
        }
    }
}
