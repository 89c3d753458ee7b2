//! Reading the members of an object by name, with errors that say where.

use std::borrow::Cow;

use crate::{
    Error,
    json::{Json, Shape},
};

/// The members of one object, and the name under which errors speak of it.
pub(crate) struct Fields<'a> {
    owner: &'static str,
    members: Vec<(Cow<'a, str>, Json<'a>)>,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(owner: &'static str, object: Json<'a>) -> Self {
        let named = |(key, value): (Json<'a>, Json<'a>)| key.to_str().map(|key| (key, value));
        Self { owner, members: object.members().filter_map(named).collect() }
    }

    /// The value of `key`; null counts as absent.
    pub(crate) fn optional(&self, key: &str) -> Option<Json<'a>> {
        let (_, value) = self.members.iter().rfind(|(name, _)| name == key)?;
        (!value.is_null()).then_some(*value)
    }

    /// The string under `key`; another shape counts as absent here and stays in the bytes.
    pub(crate) fn optional_str(&self, key: &str) -> Option<Cow<'a, str>> {
        self.optional(key)?.to_str()
    }

    pub(crate) fn required(&self, key: &'static str, expected: &'static str) -> Result<Json<'a>, Error> {
        self.optional(key).ok_or_else(|| self.misshapen(key, expected, "nothing"))
    }

    pub(crate) fn required_str(&self, key: &'static str) -> Result<Cow<'a, str>, Error> {
        let value = self.required(key, Shape::String.name())?;
        value.to_str().ok_or_else(|| self.misshapen(key, Shape::String.name(), value.shape().name()))
    }

    pub(crate) fn required_array(&self, key: &'static str) -> Result<Json<'a>, Error> {
        let value = self.required(key, Shape::Array.name())?;
        match value.shape() {
            Shape::Array => Ok(value),
            other => Err(self.misshapen(key, Shape::Array.name(), other.name())),
        }
    }

    pub(crate) fn misshapen(&self, key: &str, expected: &'static str, found: &'static str) -> Error {
        Error::Shape { place: format!("{}.{key}", self.owner), expected, found }
    }
}
