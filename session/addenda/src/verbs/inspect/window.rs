//! Projecting what is new, so that a long log does not cost a look at all of it for each prompt.

use std::collections::HashSet;

use context_manager::{
    ContextManager, Digest, HistorySnapshot, Origin, Parts, Place, Position, Profile, Prompt, Proof, Repair,
    ResponseItemEnvelope, Restored, Rule,
};

/// A tail with so many items is settled, also if some of its calls have no output yet.
const LONG_TAIL: usize = if cfg!(test) { 8 } else { 1024 };

/// The newest items of a history. What stands before them is settled: each prompt has it in the same bytes.
///
/// It stays settled until something could reach back: a rewrite, another model or another profile, or an item that has an
/// id of a settled one. Then the next prompt is made of the whole history.
pub(super) struct Window {
    is_codex: bool,
    head: Head,
    tail: ContextManager,
    /// The prompt before, as far as it is not settled.
    before: Option<Prompt>,
    /// What the prompt before was made of.
    made_of: Option<(ContextManager, Parts, Profile)>,
    reaches_back: bool,
}

/// What is known of the settled items of a prompt.
struct Head {
    items: usize,
    tokens: u64,
    chain: Digest,
    call_ids: HashSet<String>,
    item_ids: HashSet<String>,
    /// It ends with reasoning that waits for what it leads to.
    is_open: bool,
}

impl Head {
    fn empty() -> Self {
        Self {
            items: 0,
            tokens: 0,
            chain: Digest::CHAIN_START,
            call_ids: HashSet::new(),
            item_ids: HashSet::new(),
            is_open: false,
        }
    }
}

/// What is said of one prompt.
pub(super) struct Seen {
    pub(super) items: usize,
    pub(super) tokens: u64,
    pub(super) chain: Digest,
    pub(super) proof: Proof,
    /// In words; those of settled items were told before.
    pub(super) repairs: Vec<String>,
}

impl Window {
    pub(super) fn new(is_codex: bool) -> Self {
        Self { is_codex, head: Head::empty(), tail: empty(is_codex), before: None, made_of: None, reaches_back: false }
    }

    /// Takes an item that was added to the history.
    pub(super) fn add(&mut self, envelope: &ResponseItemEnvelope) {
        let call_id = envelope.item().call_id();
        self.reaches_back |= call_id.is_some_and(|id| self.head.call_ids.contains(id.as_ref()));
        let mut restored = Restored::new(envelope.context_item().clone(), envelope.position());
        restored.turn = envelope.turn().cloned();
        restored.origin = Some(envelope.origin());
        restored.model = envelope.model().map(Into::into);
        let item_id = envelope.item().item_id();
        self.reaches_back |= item_id.is_some_and(|id| self.head.item_ids.contains(id.as_ref()));
        self.reaches_back |= self.head.is_open;
        self.reaches_back |= self.tail.restore(restored).is_err();
    }

    /// Says that the history was rewritten.
    pub(super) const fn rewrite(&mut self) {
        self.reaches_back = true;
    }

    /// Says that the synthetic outputs of these calls were sent.
    pub(super) fn send(&mut self, synthetic_outputs: impl IntoIterator<Item = Position>) {
        self.tail.restore_sent(synthetic_outputs);
    }

    /// Makes the prompt of `whole`, to which all items were added here, and compares it with the one before.
    pub(super) fn prompt(&mut self, whole: &ContextManager, parts: &Parts, profile: &Profile) -> Seen {
        let is_other = self
            .made_of
            .as_ref()
            .is_some_and(|(_, before, before_profile)| before.model() != parts.model() || before_profile != profile);
        if self.reaches_back || is_other {
            self.reaches_back = false;
            self.head = Head::empty();
            self.tail = whole.clone();
            self.before = self.made_of.as_ref().map(|(before, parts, profile)| before.for_prompt(parts, profile));
        }
        let prompt = self.tail.for_prompt(parts, profile);
        let chain = prompt.items().iter().fold(self.head.chain, |link, item| link.chained(item.digest()));
        let seen = Seen {
            items: self.head.items + prompt.items().len(),
            tokens: self.head.tokens.saturating_add(prompt.input_tokens()),
            chain,
            proof: self.before.as_ref().map_or(Proof::First, |before| self.of_all(prompt.compare(before))),
            repairs: repairs(&prompt),
        };
        let waits = prompt.repairs().iter().any(|repair| repair.call_id().is_some());
        // What the model makes in one go belongs together: reasoning and what it leads to.
        let newest = prompt.history().items().next_back();
        let goes_on = newest.is_some_and(|newest| Origin::of(newest.context_item()) == Origin::Model);
        self.made_of = Some((whole.clone(), parts.clone(), profile.clone()));
        if !goes_on && (!waits || prompt.items().len() > LONG_TAIL) {
            let last = prompt.items().last().and_then(|item| item.provenance().position);
            let is_lone = |repair: &Repair| repair.rule() == Rule::LoneReasoning && repair.position() > last;
            self.head.is_open = prompt.repairs().iter().any(is_lone);
            self.settle(prompt.history(), &seen);
            self.before = Some(self.tail.for_prompt(parts, profile));
        } else {
            self.before = Some(prompt);
        }
        seen
    }

    /// Counts the tail among what is settled.
    fn settle(&mut self, tail: &HistorySnapshot, seen: &Seen) {
        let call_ids = tail.items().filter_map(|envelope| envelope.item().call_id());
        self.head.call_ids.extend(call_ids.map(std::borrow::Cow::into_owned));
        let item_ids = tail.items().filter_map(|envelope| envelope.item().item_id());
        self.head.item_ids.extend(item_ids.map(std::borrow::Cow::into_owned));
        (self.head.items, self.head.tokens, self.head.chain) = (seen.items, seen.tokens, seen.chain);
        self.tail = empty(self.is_codex);
    }

    /// What holds for the tail, said of the whole prompt.
    fn of_all(&self, proof: Proof) -> Proof {
        match proof {
            Proof::Extends { shared, new } => Proof::Extends { shared: shared + self.head.items, new },
            Proof::Broken(mut broken) => {
                match &mut broken.place {
                    Place::Item(index) => *index += self.head.items,
                    Place::Part(_) => broken.tokens_resent = broken.tokens_resent.saturating_add(self.head.tokens),
                }
                Proof::Broken(broken)
            }
            other => other,
        }
    }
}

/// An empty history of the preset that a log is read with.
pub(super) fn empty(is_codex: bool) -> ContextManager {
    let preset = if is_codex { context_manager::Preset::Codex } else { context_manager::Preset::Default };
    ContextManager::with_preset(preset)
}

fn repairs(prompt: &Prompt) -> Vec<String> {
    let in_words = |repair: &Repair| {
        let at = repair.position().map_or_else(String::new, |position| format!(" at {}", position.number()));
        let call = repair.call_id().map_or_else(String::new, |id| format!(" (call {id})"));
        format!("{}{at}{call}: {}", repair.rule(), repair.why())
    };
    prompt.repairs().iter().map(in_words).collect()
}

#[cfg(test)]
mod tests {
    use context_fragments::{ContextItem, Limit, WireItem};
    use context_manager::{Modalities, Model, Parts, Profile, Proof, Recording, TruncationPolicy};

    use super::{Window, empty, repairs};

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
        let (mut whole, mut window) = (empty(is_codex), Window::new(is_codex));
        let mut parts = Parts::new(Model::new("m1"));
        let mut before: Option<context_manager::Prompt> = None;
        let (mut said, mut said_of_all) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
        let mut settled = 0;
        for _ in 0..200 {
            match numbers.below(60) {
                0 => {
                    whole.drop_last_n_user_turns(1);
                    window.rewrite();
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
                    let seen = window.prompt(&whole, &parts, &profile);
                    assert_eq!(
                        (seen.items, seen.tokens, seen.chain, &seen.proof),
                        (prompt.items().len(), prompt.input_tokens(), prompt.chain(), &proof),
                        "seed {seed}"
                    );
                    said.extend(seen.repairs);
                    said_of_all.extend(repairs(&prompt));
                    assert_eq!(said, said_of_all, "seed {seed}");
                    settled += usize::from(window.head.items > 0);
                    if !is_codex && numbers.below(2) == 0 {
                        whole.mark_sent(&prompt).unwrap();
                        window.send(prompt.synthetic_outputs().iter().copied());
                    }
                    before = Some(prompt);
                }
                _ => {
                    let recorded = whole.record_items([item(&mut numbers)], &recording).unwrap();
                    assert_eq!(recorded.positions.len(), 1);
                    let added = whole.history().items().next_back().cloned().unwrap();
                    window.add(&added);
                }
            }
        }
        settled
    }

    #[test]
    fn a_window_says_what_the_whole_history_says() {
        for is_codex in [false, true] {
            let settled: usize = (0..5).map(|seed| check(seed, is_codex)).sum();
            assert!(settled > 100, "{settled}");
        }
    }
}
