//! What is sent for one step.

use std::{
    fmt, io,
    sync::{Arc, OnceLock},
};

use crate::{
    Digest, HistorySnapshot, MediaReport, Parts, Position, Profile, PromptItem, Proof, Repair, Rewrite, proof,
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
    pub(crate) items: Vec<PromptItem>,
    pub(crate) repairs: Vec<Repair>,
    pub(crate) media: MediaReport,
    /// Calls with a synthetic output, by position.
    pub(crate) closed: Arc<[Position]>,
    /// Outputs that were left out because they have no call, by position.
    pub(crate) orphans: Vec<Position>,
    pub(crate) chain: OnceLock<Digest>,
}

impl Prompt {
    pub(crate) fn new(body: Body, sent_before: Option<&Self>) -> Self {
        let proof = sent_before.map_or(Proof::First, |before| proof::compare(&before.body, &body));
        Self { body: Arc::new(body), proof }
    }

    pub(crate) fn body(&self) -> &Body {
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
    pub fn items(&self) -> &[PromptItem] {
        &self.body.items
    }

    /// Every change that was made to the history for this prompt.
    #[must_use]
    pub fn repairs(&self) -> &[Repair] {
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

    /// The end of the prefix chain over the items: `d_i = SHA-256(d_(i-1) || SHA-256(item))`, from 32 zero bytes.
    #[must_use]
    pub fn chain(&self) -> Digest {
        *self
            .body
            .chain
            .get_or_init(|| self.items().iter().fold(Digest::CHAIN_START, |link, item| link.chained(item.digest())))
    }

    /// The estimate of the input items, in tokens.
    #[must_use]
    pub fn input_tokens(&self) -> u64 {
        self.items().iter().map(PromptItem::tokens).fold(0, u64::saturating_add)
    }

    /// The input array in pieces, without a copy: brackets, commas and the bytes of the items.
    pub fn input_chunks(&self) -> impl Iterator<Item = &[u8]> {
        let separated = self.items().iter().enumerate().flat_map(|(index, item)| {
            let separator: &[u8] = if index == 0 { b"" } else { b"," };
            [separator, item.item().as_bytes()]
        });
        let open: &[u8] = b"[";
        let close: &[u8] = b"]";
        std::iter::once(open).chain(separated).chain(std::iter::once(close)).filter(|chunk| !chunk.is_empty())
    }

    /// The exact bytes of the input array, as one text.
    #[must_use]
    pub fn input_json(&self) -> String {
        let items = self.items().iter().map(|item| item.item().as_str());
        let mut json = String::with_capacity(2 + items.clone().map(|item| item.len() + 1).sum::<usize>());
        json.push('[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                json.push(',');
            }
            json.push_str(item);
        }
        json.push(']');
        json
    }

    /// Writes the exact bytes of the input array.
    ///
    /// # Errors
    /// What `writer` says.
    pub fn write_input(&self, writer: &mut impl io::Write) -> io::Result<()> {
        self.input_chunks().try_for_each(|chunk| writer.write_all(chunk))
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
