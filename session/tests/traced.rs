//! What a session tells `tracing`: spans of its work, and usage by the names of the conventions.
//!
//! A process of its own: `tracing` remembers for the whole process who listens to a span, and a test beside this one
//! that opens the same span first, with nobody listening, can make it silent here.

#![cfg(feature = "tracing")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use context_fragments::{ApprovalPolicy, Permissions, SandboxMode, WireItem};
use session::{
    Compaction, CompactionTrigger, Moment, NewSession, Session, SessionOptions, Settings, Summarizer, Summary,
    SummaryError, SummaryRequest, Usage, UserInput,
};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

#[derive(Debug, Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().into(), format!("{value:?}"));
    }
}

#[derive(Debug, Default)]
struct Seen {
    spans: Vec<(String, Fields)>,
    events: Vec<Fields>,
    /// How many spans are entered and not left.
    depth: i64,
    entered: u64,
}

/// Notes everything that this thread is told.
#[derive(Clone, Debug, Default)]
struct Notes(Arc<Mutex<Seen>>, Arc<AtomicU64>);

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("session")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        span.record(&mut fields);
        self.0.lock().unwrap().spans.push((span.metadata().name().into(), fields));
        Id::from_u64(self.1.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.0.lock().unwrap().events.push(fields);
    }

    fn enter(&self, _: &Id) {
        let mut seen = self.0.lock().unwrap();
        seen.depth += 1;
        seen.entered += 1;
    }

    fn exit(&self, _: &Id) {
        self.0.lock().unwrap().depth -= 1;
    }
}

struct Short;

#[async_trait::async_trait]
impl Summarizer for Short {
    async fn summarize(&self, _: SummaryRequest) -> Result<Summary, SummaryError> {
        Ok(Summary::Text("Short.".into()))
    }
}

#[tokio::test(flavor = "current_thread")]
async fn spans_name_the_work_and_usage_has_the_names_of_the_conventions() {
    let notes = Notes::default();
    let _default = tracing::subscriber::set_default(notes.clone());
    let settings = Settings::new("m1", Permissions::new(SandboxMode::ReadOnly, ApprovalPolicy::Never));
    let options = SessionOptions::new(settings, Moment::new(1_792_000_000_000));
    let session = Session::in_memory(NewSession::new("s1").with_base("You are careful."), options).await.unwrap();
    let turn = session.begin_turn(UserInput::text("a secret word")).unwrap();
    let step = turn.next_step().await.unwrap();
    turn.mark_sent(&step).await.unwrap();
    turn.record([WireItem::assistant_text(&"much ".repeat(2_000))]).await.unwrap();
    let mut usage = Usage::default();
    usage.input_tokens = Some(1_200);
    usage.cache_read_tokens = Some(1_000);
    usage.output_tokens = Some(34);
    turn.record_usage(&usage).await.unwrap();
    turn.finish().await.unwrap();
    session.compact(&Compaction::new(CompactionTrigger::Manual), &Short).await.unwrap();

    let seen = notes.0.lock().unwrap();
    let names: Vec<&str> = seen.spans.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["session.step", "session.mark_sent", "session.record", "session.compaction"]);
    assert!(seen.entered >= 4 && seen.depth == 0, "each span is entered and left: {seen:?}");
    let of_turn = [("session", "\"s1\""), ("turn", "\"turn-1\"")].map(|(key, value)| (key.into(), value.into()));
    for (_, fields) in &seen.spans[..3] {
        assert_eq!(fields.0, BTreeMap::from(of_turn.clone()));
    }
    let [event] = seen.events.as_slice() else { panic!("{:?}", seen.events) };
    let mut want = BTreeMap::from(of_turn);
    let said = [
        ("message", "usage"),
        ("gen_ai.usage.input_tokens", "1200"),
        ("gen_ai.usage.cache_read.input_tokens", "1000"),
        ("gen_ai.usage.output_tokens", "34"),
    ];
    want.extend(said.map(|(key, value)| (key.to_owned(), value.to_owned())));
    assert_eq!(event.0, want);
    assert!(!format!("{seen:?}").contains("secret"), "no content is traced");
}
