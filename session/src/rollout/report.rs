//! What a reader found besides records.

use std::{collections::BTreeMap, fmt};

/// What was found in a log besides records: every damage, with its place and its reason.
///
/// # Units
/// Offsets and lengths are in bytes of the file; line numbers count from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveryReport {
    /// What was found, in the order of the file.
    pub findings: Vec<Finding>,
    /// How many records were delivered, edited and repeated ones included.
    pub records: u64,
    /// What the log holds as a whole.
    pub contents: Contents,
    /// The incomplete line at the end, which a writer cuts.
    pub torn_tail: Option<TornTail>,
    /// Where the next record belongs: behind the last whole line.
    pub append_at: u64,
    /// The ordinal that the next record gets.
    pub next_ordinal: u64,
    /// Lines with nothing on them.
    pub blank_lines: u64,
    /// Lines that end in a carriage return and a newline.
    pub crlf_lines: u64,
    /// Records of types that this version does not know, by type: they are kept and change nothing.
    pub unknown: BTreeMap<String, u64>,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Where it starts.
    pub offset: u64,
    /// How long it is.
    pub len: u64,
    /// The line it stands on; none if reading did not start at the first line.
    pub line: Option<u64>,
    /// What it is.
    pub problem: Problem,
}

/// An incomplete line at the end of a log: what is left of a write that did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TornTail {
    /// Where it starts.
    pub offset: u64,
    /// How long it is.
    pub len: u64,
}

/// What a log holds as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Contents {
    /// No byte.
    #[default]
    Empty,
    /// Only blank lines.
    BlankOnly,
    /// Only damage: no record could be read.
    DamagedOnly,
    /// A header and no record behind it: a session in which nothing happened.
    HeaderOnly,
    /// Records.
    Records,
}

/// What a finding is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The last line is incomplete.
    TornTail,
    /// The last record is whole, only its newline is missing; it was delivered.
    Unterminated,
    /// Bytes that are not UTF-8; `at` is the offset of the first one.
    NotUtf8 {
        /// The offset of the first one in the file.
        at: u64,
    },
    /// A line that is no JSON value.
    NotJson,
    /// A line that is JSON and no record.
    NotRecord {
        /// What is missing.
        missing: &'static str,
    },
    /// Bytes before, between or behind whole records on one line; the records were delivered.
    Fused,
    /// A line that is longer than the limit; it was stepped over.
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// A whole record with the checksum of other bytes: someone changed it. It was delivered, marked.
    Edited {
        /// The checksum on the line.
        written: u32,
        /// The checksum of the line.
        computed: u32,
    },
    /// A whole record without checksum: someone rewrote it. It was delivered, marked.
    Unsealed,
    /// Records are missing before this one.
    OrdinalsMissing {
        /// The first one.
        first: u64,
        /// The last one.
        last: u64,
    },
    /// A record whose ordinal stood before.
    OrdinalRepeated {
        /// The ordinal.
        ordinal: u64,
    },
    /// A record that stands behind records that were written after it.
    OrdinalOutOfOrder {
        /// The ordinal.
        ordinal: u64,
    },
    /// The log does not start with `session_meta`.
    NoSessionMeta,
    /// The log goes on from another file, which is not followed: what came before is not here.
    HistoryElsewhere,
    /// A record that must be understood and is not.
    Refused {
        /// Its type.
        type_name: String,
        /// The reader version that it asks for.
        needed: u32,
    },
    /// A record of a known type whose payload has another shape.
    Misshapen {
        /// What is wrong, in words.
        reason: String,
    },
    /// A record whose blob is not there, or is not what the record names.
    BlobUnusable {
        /// Which blob, and what is wrong with it.
        reason: String,
    },
    /// The file starts with a byte order mark; it was passed over.
    ByteOrderMark,
    /// A string holds half a surrogate pair; it was kept as it stands.
    LoneSurrogate,
}

impl Problem {
    /// Says that bytes of the log are lost, changed or doubtful; the rest are notes.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        !matches!(self, Self::Unterminated | Self::ByteOrderMark | Self::LoneSurrogate | Self::HistoryElsewhere)
    }

    /// Says that something was written here, to its end, and is not read: a torn tail was not.
    pub(crate) const fn is_loss(&self) -> bool {
        self.is_damage()
            && !matches!(self, Self::TornTail | Self::OrdinalRepeated { .. } | Self::OrdinalOutOfOrder { .. })
    }

    /// Says that a session must not be resumed from the log unless someone decides so.
    #[must_use]
    pub const fn forbids_resume(&self) -> bool {
        matches!(
            self,
            Self::Edited { .. }
                | Self::Unsealed
                | Self::Refused { .. }
                | Self::NoSessionMeta
                | Self::HistoryElsewhere
                | Self::BlobUnusable { .. }
        )
    }
}

impl RecoveryReport {
    /// Says that nothing was damaged.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        !self.findings.iter().any(|finding| finding.problem.is_damage())
    }

    /// Where the first line stands that was too long, among what was found behind the first `n_findings`.
    pub(super) fn too_long_since(&self, n_findings: usize) -> Option<u64> {
        let found = self.findings.get(n_findings..).into_iter().flatten();
        found.filter(|finding| matches!(finding.problem, Problem::TooLong { .. })).map(|finding| finding.offset).min()
    }

    /// What keeps a session from being resumed unless someone decides so.
    pub fn obstacles(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.problem.forbids_resume())
    }
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "no byte",
            Self::BlankOnly => "only blank lines",
            Self::DamagedOnly => "only damaged lines",
            Self::HeaderOnly => "only a header",
            Self::Records => "records",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.offset)?;
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        write!(f, ": {} ({} bytes)", self.problem, self.len)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TornTail => f.write_str("the last line is incomplete"),
            Self::Unterminated => f.write_str("the last record has no newline"),
            Self::NotUtf8 { at } => write!(f, "not UTF-8 at byte {at}"),
            Self::NotJson => f.write_str("not JSON"),
            Self::NotRecord { missing } => write!(f, "JSON but no record: {missing}"),
            Self::Fused => f.write_str("foreign bytes on the line of a record"),
            Self::TooLong { limit } => write!(f, "longer than the limit of {limit} bytes"),
            Self::Edited { written, computed } => {
                write!(f, "edited: the checksum is {computed:08x}, the line says {written:08x}")
            }
            Self::Unsealed => f.write_str("edited: there is no checksum"),
            Self::OrdinalsMissing { first, last } if first == last => write!(f, "record {first} is missing"),
            Self::OrdinalsMissing { first, last } => write!(f, "records {first} to {last} are missing"),
            Self::OrdinalRepeated { ordinal } => write!(f, "record {ordinal} stands here again"),
            Self::OrdinalOutOfOrder { ordinal } => write!(f, "record {ordinal} is out of order"),
            Self::NoSessionMeta => f.write_str("the log does not start with session_meta"),
            Self::Refused { type_name, needed } => {
                write!(f, "`{type_name}` (version {needed}) must be understood and is not known here")
            }
            Self::Misshapen { reason } => write!(f, "misshapen: {reason}"),
            Self::BlobUnusable { reason } => f.write_str(reason),
            Self::HistoryElsewhere => f.write_str("the log goes on from another file, which is not followed"),
            Self::ByteOrderMark => f.write_str("a byte order mark"),
            Self::LoneSurrogate => f.write_str("half a surrogate pair in a string"),
        }
    }
}
