//! What a host brings when it starts or resumes a session.

use std::{borrow::Cow, error::Error as StdError, fmt, future::Future, pin::Pin, sync::Arc};

use agents_md::AgentsMdManager;
use context_fragments::{
    ContextItem, Limit, WireItem,
    json::{Json, push_string},
};
use context_manager::{ContextManager, Estimate, Profile, Recording, TokenCounter, TruncationPolicy, TurnId};

use crate::{
    Clock, Observer, Redactor, Settings,
    redact::redact_json,
    rollout::{Durability, OpenLimits},
    store::{JournalRules, LogCaps},
};

/// Which behaviour a session has where OpenAI Codex CLI does something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is this library's behaviour and there is the reference's")]
pub enum Preset {
    /// This library's.
    #[default]
    Default,
    /// That of OpenAI Codex CLI: in the history, in the world state, in what a provider is given, in how outputs are cut.
    Codex,
}

/// What happens when the log cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LogFailure {
    /// The session goes on in memory: what cannot be written waits in order, and is written by the first call that finds
    /// room. [`Session::log_status`](crate::Session::log_status) says so meanwhile. If too much waits, the next step is
    /// refused; an output never is. What waits is lost if the process ends before there is room.
    #[default]
    Degraded,
    /// The write comes first. If it fails, the call is an error, nothing of it is in the history, and the baseline stands
    /// where it stood; the same call may be made again.
    FailClosed,
}

type WarmUpFuture = Pin<Box<dyn Future<Output = Result<(), Box<dyn StdError + Send + Sync>>> + Send>>;

/// Work of the host that a session waits for while it reads the instructions for the first time.
pub(crate) struct WarmUp {
    pub(crate) name: String,
    pub(crate) work: WarmUpFuture,
}

/// What a host brings when it starts or resumes a session: settings, clock, instruction files, and how to record.
///
/// # Example
/// ```
/// use context_fragments::{ApprovalPolicy, Permissions, SandboxMode};
/// use session::{Moment, SessionOptions, Settings};
///
/// let permissions = Permissions::new(SandboxMode::ReadOnly, ApprovalPolicy::Never);
/// let options = SessionOptions::new(Settings::new("m1", permissions), Moment::new(1_792_483_200_123));
/// # let _ = options;
/// ```
pub struct SessionOptions {
    pub(crate) settings: Settings,
    pub(crate) host: Host,
    pub(crate) warm_ups: Vec<WarmUp>,
    pub(crate) machine: String,
}

/// What stays as it is for as long as a session runs.
pub(crate) struct Host {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) instructions: Option<Arc<AgentsMdManager>>,
    pub(crate) profile: Profile,
    pub(crate) preset: Preset,
    pub(crate) durability: Durability,
    pub(crate) log: JournalRules,
    pub(crate) open_limits: OpenLimits,
    pub(crate) redactor: Option<Arc<dyn Redactor>>,
    pub(crate) tool_output: TruncationPolicy,
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    pub(crate) effort_updates: EffortUpdates,
}

/// Whether a change of the reasoning effort is said inside the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EffortUpdates {
    /// It stands in the turn context alone.
    #[default]
    Unsaid,
    /// It is appended as an update, and requests go on with the effort of the window.
    Appended,
}

impl SessionOptions {
    /// Starts from settings and a clock: no instruction files, the Responses profile, tool outputs held to 10,000 tokens,
    /// records that survive the end of the process.
    #[must_use]
    pub fn new(settings: Settings, clock: impl Clock + 'static) -> Self {
        Self {
            settings,
            host: Host {
                clock: Arc::new(clock),
                instructions: None,
                profile: Profile::responses(),
                preset: Preset::Default,
                durability: Durability::Flush,
                log: JournalRules {
                    log_failure: LogFailure::Degraded,
                    // Some hundred steps, and far less memory than the history that the session holds anyway.
                    max_pending: 4096,
                    min_blob_bytes: 16 * 1024,
                    caps: LogCaps::default(),
                },
                open_limits: OpenLimits::default(),
                redactor: None,
                tool_output: TruncationPolicy::new(Limit::Tokens(10_000)),
                counter: Arc::new(Estimate),
                observers: Vec::new(),
                effort_updates: EffortUpdates::default(),
            },
            warm_ups: Vec::new(),
            machine: "localhost".into(),
        }
    }

    /// Follows another preset; it sets the profile and the truncation as well, so call it before those.
    #[must_use]
    pub fn with_preset(mut self, preset: Preset) -> Self {
        let limit = Limit::Tokens(10_000);
        (self.host.profile, self.host.tool_output) = match preset {
            Preset::Default => (Profile::responses(), TruncationPolicy::new(limit)),
            Preset::Codex => (Profile::codex(), TruncationPolicy::codex(limit)),
        };
        self.host.preset = preset;
        self
    }

    /// Says who finds the instruction files. The manager may be shared between sessions that work in one place.
    #[must_use]
    pub fn with_instructions(mut self, manager: impl Into<Arc<AgentsMdManager>>) -> Self {
        self.host.instructions = Some(manager.into());
        self
    }

    /// Says what the provider accepts.
    #[must_use]
    pub fn with_profile(mut self, profile: Profile) -> Self {
        self.host.profile = profile;
        self
    }

    /// Says what an acknowledged record survives.
    #[must_use]
    pub const fn with_durability(mut self, durability: Durability) -> Self {
        self.host.durability = durability;
        self
    }

    /// Says what happens when the log cannot be written.
    #[must_use]
    pub const fn with_log_failure(mut self, log_failure: LogFailure) -> Self {
        self.host.log.log_failure = log_failure;
        self
    }

    /// Says how many records may wait for a log that cannot be written before steps are refused; 4,096 by default.
    #[must_use]
    pub const fn with_log_backlog(mut self, max_records: usize) -> Self {
        self.host.log.max_pending = max_records;
        self
    }

    /// Says above which sizes the log is reported as large, in its [status](crate::Session::log_status); none by default.
    #[must_use]
    pub const fn with_log_caps(mut self, caps: LogCaps) -> Self {
        self.host.log.caps = caps;
        self
    }

    /// Takes secrets out of what users, models and tools say before it is recorded, so that model and log agree; nothing is
    /// taken out by default. What the host tells of the world (instructions, settings) is its own and stays as it is.
    #[must_use]
    pub fn with_redaction(mut self, redactor: impl Redactor + 'static) -> Self {
        self.host.redactor = Some(Arc::new(redactor));
        self
    }

    /// Says how much a resume may hold; without a limit by default.
    #[must_use]
    pub const fn with_open_limits(mut self, limits: OpenLimits) -> Self {
        self.host.open_limits = limits;
        self
    }

    /// Says from which length on a string of a record becomes a blob beside the log, kept once however often it is
    /// recorded; 16 KiB by default, so that texts stay on their lines and images do not.
    #[must_use]
    pub const fn with_min_blob_bytes(mut self, bytes: usize) -> Self {
        self.host.log.min_blob_bytes = bytes;
        self
    }

    /// Says to what tool outputs are held.
    #[must_use]
    pub const fn with_truncation(mut self, policy: TruncationPolicy) -> Self {
        self.host.tool_output = policy;
        self
    }

    /// Counts tokens in another way.
    #[must_use]
    pub fn with_counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.host.counter = counter;
        self
    }

    /// Adds one who is told what was recorded.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observer + 'static) -> Self {
        self.host.observers.push(Arc::new(observer));
        self
    }

    /// Says a change of the reasoning effort in a `configuration_update` item that is appended, for providers that take
    /// one. Requests then go on with the effort with which the window began: [`Step::effort`](crate::Step::effort).
    #[must_use]
    pub const fn with_effort_updates(mut self) -> Self {
        self.host.effort_updates = EffortUpdates::Appended;
        self
    }

    /// Names this machine for the lock, so that another process can say who holds it; `localhost` by default.
    #[must_use]
    pub fn on_machine(mut self, name: impl Into<String>) -> Self {
        self.machine = name.into();
        self
    }

    /// Adds work that the construction of the session waits for, beside the first reading of the instructions.
    ///
    /// All of it runs to its end, also when some of it fails.
    #[must_use]
    pub fn with_warm_up<F>(mut self, name: impl Into<String>, work: F) -> Self
    where
        F: Future<Output = Result<(), Box<dyn StdError + Send + Sync>>> + Send + 'static,
    {
        self.warm_ups.push(WarmUp { name: name.into(), work: Box::pin(work) });
        self
    }
}

impl Host {
    /// The item without what must not be recorded.
    pub(crate) fn redacted(&self, item: ContextItem) -> ContextItem {
        let Some(redactor) = &self.redactor else { return item };
        match redact_json(item.item().as_str(), redactor.as_ref()) {
            Cow::Borrowed(_) => item,
            // Strings were replaced by strings, so it is an item as before.
            Cow::Owned(text) => match WireItem::parse(text.as_bytes()) {
                Ok(redacted) => ContextItem::new(redacted, item.kinds().to_vec()),
                Err(_) => item,
            },
        }
    }

    /// A text without what must not be recorded.
    pub(crate) fn redacted_text(&self, text: String) -> String {
        let Some(redactor) = &self.redactor else { return text };
        let mut json = String::new();
        push_string(&mut json, &text);
        let redacted = redact_json(&json, redactor.as_ref());
        Json::parse(&redacted).ok().and_then(Json::to_str).map_or(text, Cow::into_owned)
    }

    /// An empty history that behaves as the preset says.
    pub(crate) fn new_manager(&self) -> ContextManager {
        ContextManager::with_preset(self.history_preset()).with_counter(Arc::clone(&self.counter))
    }

    pub(crate) fn recording(&self, turn: Option<&TurnId>) -> Recording {
        let recording = Recording::new(self.tool_output);
        match turn {
            Some(turn) => recording.in_turn(turn.clone()),
            None => recording,
        }
    }

    pub(crate) const fn world_preset(&self) -> world_state::Preset {
        match self.preset {
            Preset::Default => world_state::Preset::Default,
            Preset::Codex => world_state::Preset::Codex,
        }
    }

    const fn history_preset(&self) -> context_manager::Preset {
        match self.preset {
            Preset::Default => context_manager::Preset::Default,
            Preset::Codex => context_manager::Preset::Codex,
        }
    }
}

impl fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionOptions")
            .field("settings", &self.settings)
            .field("profile", &self.host.profile.name)
            .field("preset", &self.host.preset)
            .field("durability", &self.host.durability)
            .field("warm_ups", &self.warm_ups.len())
            .finish_non_exhaustive()
    }
}
