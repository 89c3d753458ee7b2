//! Who else works on it.

use super::xml::escape;

/// The elements around the list, which count against its size.
const FRAME: &str = "  <subagents>\n  </subagents>\n";
/// The indentation and the line feed of a line.
const LINE_FRAME_BYTES: usize = "    \n".len();
const MAX_LINES: usize = 8;
const MAX_BYTES: usize = 1_024;

/// Names an agent that works for this one.
///
/// # Example
/// ```
/// use world_state::SubAgent;
///
/// assert_eq!(SubAgent::at("/root/review").line(), r#"<agent name="/root/review" />"#);
/// assert_eq!(SubAgent::known_as("review", "Agent B").line(), "- review: Agent B");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SubAgent(String);

impl SubAgent {
    /// Names it by its path.
    #[must_use]
    pub fn at(path: &str) -> Self {
        Self(one_line(format!(r#"<agent name="{}" />"#, escape(path))))
    }

    /// Names it by what it is called and what it is, as older versions do.
    #[must_use]
    pub fn known_as(name: &str, description: &str) -> Self {
        Self(one_line(format!("- {}: {}", escape(name), escape(description))))
    }

    /// Returns the line that the model reads.
    #[must_use]
    pub fn line(&self) -> &str {
        &self.0
    }
}

/// A name with a line feed in it must not look like two agents.
fn one_line(line: String) -> String {
    if line.contains(['\n', '\r']) { line.replace('\n', "&#10;").replace('\r', "&#13;") } else { line }
}

/// Joins the lines that fit: the first eight that keep the list within 1,024 bytes with its elements.
///
/// A line that is too long is passed over, and a later, shorter one may still fit. `None` if nothing remains.
pub(super) fn roster(agents: impl IntoIterator<Item = SubAgent>) -> Option<String> {
    let mut n_bytes = FRAME.len();
    let mut lines: Vec<String> = Vec::new();
    for SubAgent(line) in agents {
        if lines.len() == MAX_LINES {
            break;
        }
        let with_line = n_bytes + line.len() + LINE_FRAME_BYTES;
        if with_line <= MAX_BYTES {
            n_bytes = with_line;
            lines.push(line);
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}
