//! The stored state of one section: its JSON, and beside it the typed form once somebody read it.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::canonical::canonical;
use crate::error::Error;

/// The stored state of one section.
///
/// Shared between the states that follow one another, so that "this section did not move" is one comparison of pointers.
pub(crate) struct Entry {
    json: Value,
    typed: OnceLock<Box<dyn Any + Send + Sync>>,
}

/// A typed state: kept beside the JSON, or read for this once.
pub(crate) enum Typed<'a, T> {
    Kept(&'a T),
    Read(T),
}

impl<T> Typed<'_, T> {
    pub(crate) fn as_ref(&self) -> &T {
        match self {
            Self::Kept(snapshot) => snapshot,
            Self::Read(snapshot) => snapshot,
        }
    }
}

impl Entry {
    /// Takes JSON in canonical form.
    pub(crate) fn from_canonical(json: Value) -> Self {
        Self { json, typed: OnceLock::new() }
    }

    /// Writes `snapshot` as JSON and keeps it beside that.
    pub(crate) fn from_typed<T>(section: &Arc<str>, snapshot: T) -> Result<Self, Error>
    where
        T: Serialize + Send + Sync + 'static,
    {
        let json = serde_json::to_value(&snapshot)
            .map_err(|source| Error::Snapshot { section: Arc::clone(section), source })?;
        if json.is_null() {
            return Err(Error::NullSnapshot { section: Arc::clone(section) });
        }
        let typed: Box<dyn Any + Send + Sync> = Box::new(snapshot);
        Ok(Self { json: canonical(json), typed: OnceLock::from(typed) })
    }

    pub(crate) fn json(&self) -> &Value {
        &self.json
    }

    /// Reads the typed form; the first reader pays, and a second type under the same id reads for itself.
    pub(crate) fn typed<T>(&self) -> Result<Typed<'_, T>, serde_json::Error>
    where
        T: DeserializeOwned + Send + Sync + 'static,
    {
        if let Some(kept) = self.typed.get() {
            return match kept.downcast_ref() {
                Some(snapshot) => Ok(Typed::Kept(snapshot)),
                None => T::deserialize(&self.json).map(Typed::Read),
            };
        }
        let snapshot = T::deserialize(&self.json)?;
        let kept = self.typed.get_or_init(|| Box::new(snapshot));
        match kept.downcast_ref() {
            Some(snapshot) => Ok(Typed::Kept(snapshot)),
            // Another thread read it as another type in the meantime.
            None => T::deserialize(&self.json).map(Typed::Read),
        }
    }
}
