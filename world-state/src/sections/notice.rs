//! What the sections have in common that hold one text, which is said whole whenever it changes.

use crate::previous::PreviousSectionState;

/// Says in which form a text is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notice {
    /// Nothing was said, and there is nothing to say.
    Silent,
    /// The text alone.
    Plain,
    /// The text, and that it replaces what was said before.
    Replacement,
    /// That what was said before no longer applies.
    Removal,
}

impl Notice {
    /// Finds the form for a text that is other than what was told.
    ///
    /// `holds_text` says of a known state that some text was told.
    pub(super) fn of<T>(
        previous: PreviousSectionState<'_, T>,
        holds_text: impl FnOnce(&T) -> bool,
        has_text: HasText,
    ) -> Self {
        match (previous.may_hold(holds_text), has_text) {
            (false, HasText::None) => Self::Silent,
            (true, HasText::None) => Self::Removal,
            (false, HasText::Some) => Self::Plain,
            (true, HasText::Some) => Self::Replacement,
        }
    }
}

/// Says whether there is a text now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HasText {
    None,
    Some,
}

impl<T> From<&Option<T>> for HasText {
    fn from(text: &Option<T>) -> Self {
        if text.is_some() { Self::Some } else { Self::None }
    }
}
