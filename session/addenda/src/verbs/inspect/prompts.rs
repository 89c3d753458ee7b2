//! Making each prompt of a log out of what is new in it, so that a long log does not cost a look at all of it for each.

use context_manager::{ContextManager, Digest, Parts, Profile, Projector, Prompt, Proof, Repair};

/// The prompts of a log, one after the other.
#[derive(Default)]
pub(super) struct Prompts {
    projector: Option<Projector>,
    /// The prompt before.
    before: Option<Prompt>,
}

/// What is said of one prompt.
pub(super) struct Seen {
    pub(super) items: usize,
    pub(super) tokens: u64,
    pub(super) chain: Digest,
    pub(super) proof: Proof,
    /// In words; those that the prompt before begins or ends with, too, are left out.
    pub(super) repairs: Vec<String>,
}

impl Prompts {
    /// Makes the prompt of `manager` and compares it with the one before.
    pub(super) fn prompt(&mut self, manager: &ContextManager, parts: &Parts, profile: &Profile) -> Seen {
        let known = self.projector.take().filter(|projector| projector.profile() == profile);
        let projector = self.projector.insert(known.unwrap_or_else(|| Projector::new(profile.clone())));
        let prompt = projector.prompt(manager, parts);
        let seen = Seen {
            items: prompt.items().len(),
            tokens: prompt.input_tokens(),
            chain: prompt.chain(),
            proof: self.before.as_ref().map_or(Proof::First, |before| prompt.compare(before)),
            repairs: new_repairs(self.before.as_ref(), &prompt),
        };
        self.before = Some(prompt);
        seen
    }
}

/// A repair is as a rule the same in each prompt from then on, and to compare two costs much less than to word one.
fn new_repairs(before: Option<&Prompt>, prompt: &Prompt) -> Vec<String> {
    let new = prompt.repairs();
    let Some(old) = before.map(Prompt::repairs) else { return new.iter().map(in_words).collect() };
    let first = old.iter().zip(new).take_while(reads_alike).count();
    let left = old.len().min(new.len()) - first;
    let last = old.iter().rev().zip(new.iter().rev()).take(left).take_while(reads_alike).count();
    new.iter_from(first).take(new.len() - first - last).map(in_words).collect()
}

/// Says that both read the same in words.
fn reads_alike((one, two): &(&Repair, &Repair)) -> bool {
    one.position() == two.position()
        && (one.rule(), one.why()) == (two.rule(), two.why())
        && one.call_id() == two.call_id()
}

/// An empty history of the preset that a log is read with.
pub(super) fn empty(is_codex: bool) -> ContextManager {
    let preset = if is_codex { context_manager::Preset::Codex } else { context_manager::Preset::Default };
    ContextManager::with_preset(preset)
}

fn in_words(repair: &Repair) -> String {
    let at = repair.position().map_or_else(String::new, |position| format!(" at {}", position.number()));
    let call = repair.call_id().map_or_else(String::new, |id| format!(" (call {id})"));
    format!("{}{at}{call}: {}", repair.rule(), repair.why())
}

#[cfg(test)]
mod tests {
    use context_fragments::{ContextItem, Limit, WireItem};
    use context_manager::{Modalities, Model, Parts, Profile, Proof, Recording, TruncationPolicy};

    use super::{Prompts, empty, in_words};

    /// Numbers that look random and are the same each time.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % end
        }
    }

    fn item(numbers: &mut Numbers) -> ContextItem {
        let id = match numbers.below(20) {
            0..=2 => "again".to_owned(),
            _ => format!("c{}", numbers.below(60)),
        };
        match numbers.below(13) {
            0 | 1 => WireItem::function_call("sh", "{}", &id).into(),
            2..=4 => WireItem::function_call_output(&id, "done").into(),
            5 => WireItem::custom_tool_call_output(&id, "done").into(),
            6 => ContextItem::user_text("go on"),
            7 => WireItem::parse(
                br#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:,x"}]}"#,
            )
            .unwrap()
            .into(),
            8 | 9 => {
                let id = numbers.below(90);
                let reasoning = format!(
                    r#"{{"type":"reasoning","id":"rs_{id}","summary":[],"encrypted_content":"{}"}}"#,
                    ["xxxx", "cut"][usize::from(id.is_multiple_of(8))]
                );
                WireItem::parse(reasoning.as_bytes()).unwrap().into()
            }
            10 => ContextItem::user_text(" "),
            11 => WireItem::parse(
                br#"{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a"}]}"#,
            )
            .unwrap()
            .into(),
            _ => WireItem::assistant_text("half of a pair: \u{fffd}").into(),
        }
    }

    /// What is said of each prompt is what the whole of the history says.
    fn check(seed: u64, is_codex: bool) -> usize {
        let mut numbers = Numbers(seed);
        let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(100)));
        let profile = if is_codex { Profile::codex() } else { Profile::responses() };
        let (mut whole, mut prompts) = (empty(is_codex), Prompts::default());
        let mut parts = Parts::new(Model::new("m1"));
        let mut before: Option<context_manager::Prompt> = None;
        let (mut said, mut said_of_all) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
        let mut left_out = 0;
        for _ in 0..200 {
            match numbers.below(60) {
                0 => {
                    whole.drop_last_n_user_turns(1);
                }
                1 => {
                    let text_only = numbers.below(2) == 0;
                    let modalities = if text_only { Modalities::TEXT } else { Modalities::ALL };
                    parts = parts.with_model(Model::new("m1").with_modalities(modalities));
                }
                2 => parts = parts.with_tools(&format!("[{}]", numbers.below(3))).unwrap(),
                3..=24 => {
                    let prompt = whole.for_prompt(&parts, &profile);
                    let proof = before.as_ref().map_or(Proof::First, |before| prompt.compare(before));
                    let seen = prompts.prompt(&whole, &parts, &profile);
                    assert_eq!(
                        (seen.items, seen.tokens, seen.chain, &seen.proof),
                        (prompt.items().len(), prompt.input_tokens(), prompt.chain(), &proof),
                        "seed {seed}"
                    );
                    left_out += prompt.repairs().len() - seen.repairs.len();
                    said.extend(seen.repairs);
                    said_of_all.extend(prompt.repairs().iter().map(in_words));
                    assert_eq!(said, said_of_all, "seed {seed}");
                    if !is_codex && numbers.below(2) == 0 {
                        whole.mark_sent(&prompt).unwrap();
                    }
                    before = Some(prompt);
                }
                _ => {
                    let recorded = whole.record_items([item(&mut numbers)], &recording).unwrap();
                    assert_eq!(recorded.positions.len(), 1);
                }
            }
        }
        left_out
    }

    #[test]
    fn what_is_said_of_each_prompt_is_what_the_whole_history_says() {
        for is_codex in [false, true] {
            let left_out: usize = (0..30).map(|seed| check(seed, is_codex)).sum();
            assert!(left_out > 1_000, "{left_out}");
        }
    }

    /// Each turn has a call with the same id and no output; what is new in a turn costs the same in a long log.
    #[test]
    fn a_log_that_reuses_its_call_ids_costs_what_is_new() {
        let allocations = |n_turns: usize| {
            let recording = Recording::new(TruncationPolicy::new(Limit::Tokens(100)));
            let (mut whole, mut prompts) = (empty(false), Prompts::default());
            let parts = Parts::new(Model::new("m1"));
            let mut n_repairs = 0;
            let counted = allocation_counter::measure(|| {
                for _ in 0..n_turns {
                    for item in [ContextItem::user_text("go on"), WireItem::function_call("sh", "{}", "c1").into()] {
                        whole.record_items([item], &recording).unwrap();
                    }
                    n_repairs += prompts.prompt(&whole, &parts, &Profile::responses()).repairs.len();
                    let prompt = prompts.before.clone().unwrap();
                    whole.mark_sent(&prompt).unwrap();
                }
            });
            // A missing output for each call, and another name for each but the first.
            assert_eq!(n_repairs, 2 * n_turns - 1);
            counted.count_total
        };
        let (short, long) = (allocations(200), allocations(400));
        assert!(long < short * 5 / 2, "{short} allocations for 200 turns, {long} for 400");
    }
}
