//! Who makes summaries.

use std::error::Error as StdError;

use async_trait::async_trait;
use context_fragments::{ItemType, WireItem};
use context_manager::Prompt;

use crate::CompactionTrigger;

/// Makes a summary of a conversation: the host's client, asking a model.
///
/// # Example
/// ```
/// use async_trait::async_trait;
/// use session::{Summarizer, Summary, SummaryError, SummaryRequest};
///
/// #[derive(Debug)]
/// struct Fixed;
///
/// #[async_trait]
/// impl Summarizer for Fixed {
///     async fn summarize(&self, request: SummaryRequest) -> Result<Summary, SummaryError> {
///         if request.prompt.input_tokens() > 100_000 {
///             return Err(SummaryError::TooLarge { limit: Some(100_000) });
///         }
///         Ok(Summary::Text("The user wants the bug fixed.".into()))
///     }
/// }
/// ```
#[async_trait]
pub trait Summarizer: Send + Sync {
    /// Answers one request. It is asked again, with less, after [`SummaryError::TooLarge`].
    async fn summarize(&self, request: SummaryRequest) -> Result<Summary, SummaryError>;
}

/// A request for a summary.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SummaryRequest {
    /// What to send: the conversation, and last the words that ask for the summary.
    pub prompt: Prompt,
    /// Why it is asked for.
    pub trigger: CompactionTrigger,
    /// How many of the oldest exchanges are left out of it.
    pub skipped: usize,
}

/// A summary.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Summary {
    /// In words.
    Text(String),
    /// In items of the provider's own, which nobody looks into: they are kept byte for byte.
    Items(Vec<WireItem>),
}

impl Summary {
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Items(_) => None,
        }
    }

    /// Says what makes it no summary.
    pub(super) fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Text(text) if text.trim().is_empty() => Some("the summary is empty"),
            Self::Text(_) => None,
            Self::Items(items) => {
                let is_compaction =
                    |item: &WireItem| matches!(item.item_type(), ItemType::Compaction | ItemType::ContextCompaction);
                (!items.iter().any(is_compaction)).then_some("none of the items is a compaction of the provider")
            }
        }
    }
}

/// Why there is no summary.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// The request is larger than the model takes.
    #[error("the conversation is too large to be summed up")]
    TooLarge {
        /// What it takes, in tokens, if that is known.
        limit: Option<u64>,
    },
    /// It failed. The host has tried as often as it wants to.
    #[error("the summary could not be made")]
    Failed {
        /// Why.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// What came back is no summary.
    #[error("{fault}")]
    NoSummary {
        /// What is wrong with it.
        fault: &'static str,
    },
}

impl SummaryError {
    /// A failure of the host's client.
    pub fn failed(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Failed { source: source.into() }
    }
}
