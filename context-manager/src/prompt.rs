//! What is sent for one step.

use std::{fmt, io, sync::Arc};

use crate::{
    Binding, Digest, HistorySnapshot, Log, MediaReport, Parts, Position, Profile, PromptItem, Proof, Repair, Rewrite,
    TokenCounter, ValueProof,
    call_state::CallStates,
    chunks::{Chunks, Segment},
    proof, values,
};

/// A projection of one history for one request: parts, items, and what is known of them.
///
/// A clone is two reference counts and the proof. The store behind it is never touched, and the bytes of an item are
/// those of the store unless one of the [repairs](Self::repairs) says otherwise.
#[derive(Clone)]
pub struct Prompt {
    body: Arc<Body>,
    proof: Proof,
}

/// What does not depend on the prompt that was sent before.
pub(crate) struct Body {
    pub(crate) snapshot: HistorySnapshot,
    /// Every rewrite of the history, with the version that it made.
    pub(crate) rewrites: Arc<Vec<(u64, Rewrite)>>,
    pub(crate) parts: Parts,
    pub(crate) profile: Profile,
    pub(crate) items: Log<PromptItem>,
    pub(crate) repairs: Log<Repair>,
    pub(crate) media: MediaReport,
    /// Calls with a synthetic output, by position.
    pub(crate) closed: Arc<[Position]>,
    /// What was known of calls when it was made.
    pub(crate) states: CallStates,
    /// Outputs that were left out because they have no call, by position.
    pub(crate) orphans: Arc<[Position]>,
    /// What its items were counted with, and what counts its parts.
    pub(crate) counter: Arc<dyn TokenCounter>,
    /// The older items, joined; none in a prompt of the plain form.
    pub(crate) sealed: Log<Arc<Segment>>,
}

impl Prompt {
    pub(crate) fn new(body: Arc<Body>, sent_before: Option<&Self>) -> Self {
        let proof = sent_before.map_or(Proof::First, |before| proof::compare(&before.body, &body));
        Self { body, proof }
    }

    pub(crate) fn projected(&self) -> &Body {
        &self.body
    }

    /// Model, parameters, base instructions, tools and schema.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.body.parts
    }

    /// The rows by which the history was made to fit.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.body.profile
    }

    /// The input items in the order in which they are sent, each with its provenance.
    #[must_use]
    pub fn items(&self) -> &Log<PromptItem> {
        &self.body.items
    }

    /// Every change that was made to the history for this prompt.
    #[must_use]
    pub fn repairs(&self) -> &Log<Repair> {
        &self.body.repairs
    }

    /// Which media were allowed, present and removed.
    #[must_use]
    pub fn media(&self) -> MediaReport {
        self.body.media
    }

    /// The history from which it was made.
    #[must_use]
    pub fn history(&self) -> &HistorySnapshot {
        &self.body.snapshot
    }

    /// How it relates to the prompt that had been sent when it was made.
    #[must_use]
    pub const fn proof(&self) -> &Proof {
        &self.proof
    }

    /// The calls that got a synthetic output, by position, increasing.
    #[must_use]
    pub fn synthetic_outputs(&self) -> &[Position] {
        &self.body.closed
    }

    /// How it relates to `earlier`, whether that was sent or not.
    #[must_use]
    pub fn compare(&self, earlier: &Self) -> Proof {
        proof::compare(&earlier.body, &self.body)
    }

    /// Whether the values of `earlier` that bind stand in this prompt, too, and nothing between them.
    ///
    /// Equal bytes are equal values, so nothing is read where the bytes are equal. Otherwise the items from the first
    /// difference on are compared, as far as their bytes differ.
    ///
    /// # Example
    /// ```
    /// use context_fragments::{Limit, WireItem};
    /// use context_manager::{Binding, ContextManager, Model, Parts, Profile, Recording, TruncationPolicy};
    ///
    /// let prompt = |json: &[u8]| -> Result<_, Box<dyn std::error::Error>> {
    ///     let mut manager = ContextManager::new();
    ///     manager.record_items([WireItem::parse(json)?], &Recording::new(TruncationPolicy::new(Limit::Tokens(10))))?;
    ///     Ok(manager.for_prompt(&Parts::new(Model::new("m1")), &Profile::responses()))
    /// };
    /// let one = prompt(br#"{"type":"message","role":"user","content":"a"}"#)?;
    /// let two = prompt(br#"{"type":"message","content":"\u0061","role":"user"}"#)?;
    /// assert!(!two.compare(&one).extends());
    /// assert!(two.compare_values(&one, &Binding::ALL).extends());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn compare_values(&self, earlier: &Self, binding: &Binding) -> ValueProof {
        let shared = proof::shared_items(&earlier.body.items, &self.body.items);
        values::compare(&earlier.body, &self.body, shared, binding)
    }

    /// The end of the prefix chain over the items: `d_i = SHA-256(d_(i-1) || SHA-256(item))`, from 32 zero bytes.
    #[must_use]
    pub fn chain(&self) -> Digest {
        self.items().last().map_or(Digest::CHAIN_START, PromptItem::link)
    }

    /// The estimate of the input items, in tokens; it is kept, not counted.
    #[must_use]
    pub fn input_tokens(&self) -> u64 {
        self.items().last().map_or(0, PromptItem::tokens_to_here)
    }

    /// The exact bytes of the input array in pieces: brackets, commas and the bytes of the items. Nothing is copied, and
    /// what is given back may outlive the prompt.
    #[must_use]
    pub fn body(&self) -> Chunks {
        Chunks::new(&self.body.items, &self.body.sealed)
    }

    /// The exact bytes of the input array, as one text.
    #[must_use]
    pub fn input_json(&self) -> String {
        let body = self.body();
        let mut json = String::with_capacity(body.byte_len());
        body.for_each(|chunk| json.push_str(chunk.as_str()));
        json
    }

    /// Writes the exact bytes of the input array.
    ///
    /// # Errors
    /// What `writer` says.
    pub fn write_input(&self, writer: &mut impl io::Write) -> io::Result<()> {
        self.body().try_for_each(|chunk| writer.write_all(&chunk))
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("parts", &self.body.parts)
            .field("profile", &self.body.profile.name)
            .field("items", &self.body.items)
            .field("repairs", &self.body.repairs)
            .field("proof", &self.proof)
            .finish_non_exhaustive()
    }
}
