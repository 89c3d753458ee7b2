//! The content of a message, and the output of a tool.

use std::borrow::Cow;

use super::fields::Fields;
use crate::{
    Error,
    json::{Elements, Json, Shape},
};

/// What a message says, or what a tool gave back: one text, or parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content<'a> {
    /// A plain string.
    Text(Json<'a>),
    /// An array of parts; it may be empty.
    Parts(Json<'a>),
}

impl<'a> Content<'a> {
    /// Takes a string or an array; anything else is an error that names the field.
    pub(super) fn read(fields: &Fields<'a>, key: &'static str) -> Result<Self, Error> {
        const EXPECTED: &str = "a string or an array";
        let value = fields.required(key, EXPECTED)?;
        match value.shape() {
            Shape::String => Ok(Self::Text(value)),
            Shape::Array => Ok(Self::Parts(value)),
            other => Err(fields.misshapen(key, EXPECTED, other.name())),
        }
    }

    /// The plain string, if this is one.
    #[must_use]
    pub fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => text.to_str(),
            Self::Parts(_) => None,
        }
    }

    /// The parts in their order; a plain string has none.
    pub fn parts(self) -> impl Iterator<Item = ContentItem<'a>> + Clone {
        self.elements().map(ContentItem::parse)
    }

    /// The readable text: the texts that are not blank, joined by line feeds; none if nothing is left.
    #[must_use]
    pub fn joined_text(self) -> Option<String> {
        let mut joined: Option<String> = None;
        let own = self.text();
        let parts = self.parts().filter_map(|part| part.text().cloned());
        for text in own.into_iter().chain(parts).filter(|text| !text.trim().is_empty()) {
            match &mut joined {
                Some(joined) => {
                    joined.push('\n');
                    joined.push_str(&text);
                }
                None => joined = Some(text.into_owned()),
            }
        }
        joined
    }

    fn elements(self) -> Elements<'a> {
        match self {
            Self::Text(value) | Self::Parts(value) => value.elements(),
        }
    }
}

/// One part of a content list.
///
/// The typed texts may be lossy (a lone surrogate becomes U+FFFD); the bytes behind [`ContentItem::json`] never are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentItem<'a> {
    /// `input_text`.
    InputText {
        /// The text.
        text: Cow<'a, str>,
        /// The part as it stands.
        json: Json<'a>,
    },
    /// `output_text`.
    OutputText {
        /// The text.
        text: Cow<'a, str>,
        /// The part as it stands.
        json: Json<'a>,
    },
    /// `input_image`, by URL or by file id.
    InputImage {
        /// A web address or a data URL.
        image_url: Option<Cow<'a, str>>,
        /// The id of a file that the provider holds.
        file_id: Option<Cow<'a, str>>,
        /// `auto`, `low`, `high`, `original`, or what else stands there.
        detail: Option<Cow<'a, str>>,
        /// The part as it stands.
        json: Json<'a>,
    },
    /// `input_audio`.
    InputAudio {
        /// A web address or a data URL.
        audio_url: Cow<'a, str>,
        /// The part as it stands.
        json: Json<'a>,
    },
    /// `encrypted_content`.
    EncryptedContent {
        /// What only the provider can read.
        encrypted_content: Cow<'a, str>,
        /// The part as it stands.
        json: Json<'a>,
    },
    /// A part of another type, or one that lacks what its type needs.
    Unknown(Json<'a>),
}

impl<'a> ContentItem<'a> {
    /// Reads one part; never fails, since what is not known stays [`ContentItem::Unknown`].
    #[must_use]
    pub fn parse(json: Json<'a>) -> Self {
        let fields = Fields::of("content", json);
        let known = match fields.optional_str("type").as_deref() {
            Some("input_text") => fields.optional_str("text").map(|text| Self::InputText { text, json }),
            Some("output_text") => fields.optional_str("text").map(|text| Self::OutputText { text, json }),
            Some("input_image") => Some(Self::InputImage {
                image_url: fields.optional_str("image_url"),
                file_id: fields.optional_str("file_id"),
                detail: fields.optional_str("detail"),
                json,
            }),
            Some("input_audio") => {
                fields.optional_str("audio_url").map(|audio_url| Self::InputAudio { audio_url, json })
            }
            Some("encrypted_content") => fields
                .optional_str("encrypted_content")
                .map(|encrypted_content| Self::EncryptedContent { encrypted_content, json }),
            _ => None,
        };
        known.unwrap_or(Self::Unknown(json))
    }

    /// The part as it stands.
    #[must_use]
    pub const fn json(&self) -> Json<'a> {
        match self {
            Self::InputText { json, .. }
            | Self::OutputText { json, .. }
            | Self::InputImage { json, .. }
            | Self::InputAudio { json, .. }
            | Self::EncryptedContent { json, .. }
            | Self::Unknown(json) => *json,
        }
    }

    /// The text of a text part.
    #[must_use]
    pub fn text(&self) -> Option<&Cow<'a, str>> {
        match self {
            Self::InputText { text, .. } | Self::OutputText { text, .. } => Some(text),
            _ => None,
        }
    }
}
