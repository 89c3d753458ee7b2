//! What is known of what the model was told before.

/// Says what is known of what the model was told about a section.
#[derive(Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "sections match on it, and a fourth state would be a new protocol")]
pub enum PreviousSectionState<'a, T> {
    /// Nothing was told: no state is stored and no text of the section is in the history, or what was told is gone from it.
    Absent,
    /// Something was told, and it is not known what: a text of the section is in the history and no usable state is stored.
    Unknown,
    /// This was told.
    Known(&'a T),
}

impl<'a, T> PreviousSectionState<'a, T> {
    /// Returns the state that was told, if it is known.
    #[must_use]
    pub fn known(self) -> Option<&'a T> {
        match self {
            Self::Known(snapshot) => Some(snapshot),
            Self::Absent | Self::Unknown => None,
        }
    }

    /// Whether the history may hold a text for which `told` is true: it is known to, or nothing is known.
    ///
    /// A section that replaces what it said before asks this to choose between "this is so" and "this replaces …".
    ///
    /// # Example
    /// ```
    /// use world_state::PreviousSectionState;
    ///
    /// assert!(PreviousSectionState::Known(&"text").may_hold(|text| !text.is_empty()));
    /// assert!(PreviousSectionState::<&str>::Unknown.may_hold(|text| !text.is_empty()));
    /// assert!(!PreviousSectionState::<&str>::Absent.may_hold(|text| !text.is_empty()));
    /// ```
    #[must_use]
    pub fn may_hold(self, told: impl FnOnce(&T) -> bool) -> bool {
        match self {
            Self::Absent => false,
            Self::Unknown => true,
            Self::Known(snapshot) => told(snapshot),
        }
    }
}

// Written out, because a derive would ask the same of `T`, which is only borrowed.
impl<T> Clone for PreviousSectionState<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for PreviousSectionState<'_, T> {}
