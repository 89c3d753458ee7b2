//! Reading members of a payload, with errors that name the place.

use std::{borrow::Cow, sync::Arc};

use context_fragments::json::{Json, Shape};

use super::{RawJson, Sha256};
use crate::Error;

/// An object of a record, and the name under which errors speak of it.
///
/// The members are found in one walk, because the last member of a checkpoint can be a hundred megabytes long.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    members: Vec<(Cow<'a, str>, Json<'a>)>,
    place: &'a str,
}

impl<'a> Fields<'a> {
    /// Takes `value`, which has to be an object.
    pub(super) fn of(value: Json<'a>, place: &'a str) -> Result<Self, Error> {
        match value.shape() {
            Shape::Object => {
                let named = |(key, value): (Json<'a>, Json<'a>)| key.to_str().map(|key| (key, value));
                Ok(Self { members: value.members().filter_map(named).collect(), place })
            }
            _ => Err(Error::misshapen(place, "an object")),
        }
    }

    /// The value of `key`, the last one if it stands twice; `null` counts as absent.
    pub(super) fn value(&self, key: &str) -> Option<Json<'a>> {
        let found = self.members.iter().rfind(|(name, _)| name == key);
        found.map(|(_, value)| *value).filter(|value| !value.is_null())
    }

    pub(super) fn raw(&self, key: &str) -> Option<RawJson> {
        self.value(key).map(RawJson::from_json)
    }

    pub(super) fn string(&self, key: &str) -> Result<Option<String>, Error> {
        self.read(key, "a string", |value| value.to_str().map(String::from))
    }

    /// The same, to be shared.
    pub(super) fn shared(&self, key: &str) -> Result<Option<Arc<str>>, Error> {
        self.read(key, "a string", |value| value.to_str().map(Arc::from))
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<u64>, Error> {
        self.read(key, "a whole number of at most 64 bits", |value| value.as_raw().parse().ok())
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, Error> {
        self.read(key, "a boolean", |value| value.as_raw().parse().ok())
    }

    pub(super) fn digest(&self, key: &str) -> Result<Option<Sha256>, Error> {
        self.read(key, "a SHA-256 of 64 lower-case digits", |value| Sha256::from_hex(&value.to_str()?))
    }

    pub(super) fn array(&self, key: &str) -> Result<Option<Json<'a>>, Error> {
        self.read(key, "an array", |value| (value.shape() == Shape::Array).then_some(value))
    }

    /// Reads an optional member; one of another shape is an error.
    pub(super) fn read<T>(
        &self,
        key: &str,
        expected: &'static str,
        read: impl FnOnce(Json<'a>) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.value(key) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| Error::misshapen(format!("{}.{key}", self.place), expected))
    }

    /// Turns an absent member into an error.
    pub(super) fn need<T>(&self, key: &str, expected: &'static str, found: Option<T>) -> Result<T, Error> {
        found.ok_or_else(|| Error::misshapen(format!("{}.{key}", self.place), expected))
    }
}
