//! The first record of a log, and the record of each opening.

use context_fragments::json::{Json, ObjectWriter};

use super::{RawJson, field::Fields, limits::FORMAT_VERSION};
use crate::Error;

/// What a session was started with: the first record of its log.
///
/// # Shape
/// The parts of a prompt are kept as JSON text, byte for byte, because the first prompt after a resume has to extend the
/// last one that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionMeta {
    /// The format of the log; none for a foreign log.
    pub format: Option<u32>,
    /// The session's id.
    pub session_id: String,
    /// The program that made the log, with its version.
    pub program: Option<String>,
    /// The folder that the session started in.
    pub cwd: Option<String>,
    /// The base instructions, as the host's prompt holds them: mostly a string.
    pub base_instructions: Option<RawJson>,
    /// The parameters of each request, model included.
    pub parameters: Option<RawJson>,
    /// The tools of the first request.
    pub tools: Option<RawJson>,
    /// The session that this one was forked from.
    pub parent: Option<Parent>,
    /// A file that holds what came before, in a foreign log that goes on from another one; it is not followed.
    pub history_base: Option<RawJson>,
    /// What else stands in the payload of a foreign log, or what the host wants to find again.
    pub details: Option<RawJson>,
}

/// Where a fork starts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parent {
    /// The id of the session that was forked.
    pub session_id: String,
    /// The position of the turn boundary in it, if it is known.
    pub position: Option<u64>,
    /// A checkpoint with the window of the parent stands behind the header: without it the log is half of a fork.
    pub(crate) brings_window: bool,
}

impl Parent {
    /// Names a turn boundary of another session.
    #[must_use]
    pub fn new(session_id: impl Into<String>, position: Option<u64>) -> Self {
        Self { session_id: session_id.into(), position, brings_window: false }
    }

    /// The same for a log that begins with the window of the parent.
    pub(crate) const fn with_window(mut self) -> Self {
        self.brings_window = true;
        self
    }
}

impl SessionMeta {
    /// The start of a session of which only the id is known.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self {
            format: Some(FORMAT_VERSION),
            session_id: session_id.into(),
            program: None,
            cwd: None,
            base_instructions: None,
            parameters: None,
            tools: None,
            parent: None,
            history_base: None,
            details: None,
        }
    }

    pub(super) fn to_json(&self) -> String {
        let mut object = ObjectWriter::new();
        object.raw("format", &self.format.unwrap_or(FORMAT_VERSION).to_string());
        object.string("session_id", &self.session_id);
        for (key, value) in [("program", &self.program), ("cwd", &self.cwd)] {
            if let Some(value) = value {
                object.string(key, value);
            }
        }
        let parts =
            [("base_instructions", &self.base_instructions), ("parameters", &self.parameters), ("tools", &self.tools)];
        for (key, value) in parts {
            if let Some(value) = value {
                object.raw(key, value.as_str());
            }
        }
        if let Some(parent) = &self.parent {
            let mut fork = ObjectWriter::new();
            fork.string("session_id", &parent.session_id);
            if let Some(position) = parent.position {
                fork.raw("position", &position.to_string());
            }
            if parent.brings_window {
                fork.raw("window", "true");
            }
            object.raw("parent", &fork.finish());
        }
        for (key, value) in [("history_base", &self.history_base), ("details", &self.details)] {
            if let Some(value) = value {
                object.raw(key, value.as_str());
            }
        }
        object.finish()
    }

    pub(super) fn from_json(payload: Json<'_>) -> Result<Self, Error> {
        let fields = Fields::of(payload, "session_meta")?;
        let narrow = |value: Json<'_>| value.as_raw().parse().ok();
        let format = fields.read("format", "a whole number of at most 32 bits", narrow)?;
        let session_id = fields.string("session_id")?;
        let parent = fields.value("parent").map(|parent| {
            let fork = Fields::of(parent, "session_meta.parent")?;
            let session_id = fork.string("session_id")?;
            let session_id = fork.need("session_id", "a string", session_id)?;
            let brings_window = fork.flag("window")?.unwrap_or(false);
            Ok::<_, Error>(Parent { session_id, position: fork.number("position")?, brings_window })
        });
        Ok(Self {
            format: Some(fields.need("format", "a number", format)?),
            session_id: fields.need("session_id", "a string", session_id)?,
            program: fields.string("program")?,
            cwd: fields.string("cwd")?,
            base_instructions: fields.raw("base_instructions"),
            parameters: fields.raw("parameters"),
            tools: fields.raw("tools"),
            parent: parent.transpose()?,
            history_base: fields.raw("history_base"),
            details: fields.raw("details"),
        })
    }
}

/// A writer took the log: the record that follows a cut, and that tells two runs apart.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opened {
    /// The process.
    pub pid: u32,
    /// The machine, as the host of the session named it.
    pub host: String,
    /// The torn tail that was cut before this record, as offset and length in bytes.
    pub cut: Option<(u64, u64)>,
}

impl Opened {
    /// A writer that found nothing to cut.
    #[must_use]
    pub fn new(pid: u32, host: impl Into<String>) -> Self {
        Self { pid, host: host.into(), cut: None }
    }

    pub(super) fn to_json(&self) -> String {
        let mut object = ObjectWriter::new();
        object.raw("pid", &self.pid.to_string()).string("host", &self.host);
        if let Some((offset, len)) = self.cut {
            object.raw("cut", &format!("{{\"offset\":{offset},\"len\":{len}}}"));
        }
        object.finish()
    }

    pub(super) fn from_json(payload: Json<'_>) -> Result<Self, Error> {
        let fields = Fields::of(payload, "opened")?;
        let pid = fields.read("pid", "a process id", |pid| pid.as_raw().parse().ok())?;
        let host = fields.string("host")?;
        let cut = fields.read("cut", "an offset and a length", |cut| {
            let number = |key| cut.member(key)?.as_raw().parse().ok();
            Some((number("offset")?, number("len")?))
        });
        Ok(Self {
            pid: fields.need("pid", "a process id", pid)?,
            host: fields.need("host", "a string", host)?,
            cut: cut?,
        })
    }
}
