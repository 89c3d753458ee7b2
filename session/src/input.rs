//! What comes from outside: the words of the user, and the results of tools.

use context_fragments::{ContextItem, Kind, Part, Role, WireItem};

/// What the user says in a turn: one message of texts and images.
///
/// # Example
/// ```
/// use session::UserInput;
///
/// let input = UserInput::text("what is on this picture?").with_image("https://a.example/cat.png", "auto");
/// assert_eq!(input.item().unwrap().kinds().len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserInput {
    parts: Vec<InputPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum InputPart {
    Text(String),
    Image { url: String, detail: String },
}

impl UserInput {
    /// Takes one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().with_text(text)
    }

    /// A turn in which the user says nothing: the agent just goes on.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Adds a text.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.parts.push(InputPart::Text(text.into()));
        self
    }

    /// Adds an image by its web address or as a data URL; `detail` is `auto`, `low`, `high` or `original`.
    #[must_use]
    pub fn with_image(mut self, url: impl Into<String>, detail: impl Into<String>) -> Self {
        self.parts.push(InputPart::Image { url: url.into(), detail: detail.into() });
        self
    }

    /// The message; none if the user says nothing.
    #[must_use]
    pub fn item(&self) -> Option<ContextItem> {
        if self.parts.is_empty() {
            return None;
        }
        let parts: Vec<Part<'_>> = self
            .parts
            .iter()
            .map(|part| match part {
                InputPart::Text(text) => Part::InputText(text),
                InputPart::Image { url, detail } => Part::InputImage { url, detail },
            })
            .collect();
        let kinds: Vec<Kind> = self
            .parts
            .iter()
            .map(|part| match part {
                InputPart::Text(_) => Kind::USER_TEXT,
                InputPart::Image { .. } => Kind::USER_IMAGE,
            })
            .collect();
        Some(ContextItem::new(WireItem::message(Role::User, &parts), kinds))
    }
}

/// What a tool gave back for a call.
///
/// # Example
/// ```
/// use session::ToolResult;
///
/// let result = ToolResult::text("no such file").failed();
/// assert_ne!(result, ToolResult::text("no such file"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    pub(crate) body: ToolBody,
    pub(crate) success: Option<bool>,
    pub(crate) limit_tokens: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolBody {
    Text(String),
    Item(WireItem),
}

impl ToolResult {
    /// Takes a text; the session makes the output that fits the call.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { body: ToolBody::Text(text.into()), success: None, limit_tokens: None }
    }

    /// Takes a whole output item, for images and for tool searches. It has to name the call that it answers.
    #[must_use]
    pub const fn item(item: WireItem) -> Self {
        Self { body: ToolBody::Item(item), success: None, limit_tokens: None }
    }

    /// Notes in the log that the tool did what it was asked. It does not go on the wire.
    #[must_use]
    pub const fn succeeded(mut self) -> Self {
        self.success = Some(true);
        self
    }

    /// Notes in the log that the tool did not do what it was asked. It does not go on the wire.
    #[must_use]
    pub const fn failed(mut self) -> Self {
        self.success = Some(false);
        self
    }

    /// Whether the tool did what it was asked, if that was said.
    #[must_use]
    pub const fn success(&self) -> Option<bool> {
        self.success
    }

    /// Holds this output to `tokens` instead of what the session's policy says.
    #[must_use]
    pub const fn held_to(mut self, tokens: usize) -> Self {
        self.limit_tokens = Some(tokens);
        self
    }
}

impl From<&str> for ToolResult {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ToolResult {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<WireItem> for ToolResult {
    fn from(item: WireItem) -> Self {
        Self::item(item)
    }
}
