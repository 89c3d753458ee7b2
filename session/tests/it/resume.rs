//! Going on from a log: what is rebuilt, what is refused, and what the model is told.

use std::{path::Path, sync::Arc};

use context_fragments::{Limit, WireItem};
use context_manager::{Entry, Modalities, Model, PartName, Proof};
use session::{
    Error, ModelSettings, Resumed, Session, SessionOptions, UserInput,
    rollout::{
        Draft, Durability, LogFormat, Metadata, Opening, Owner, Record, RolloutItem, SessionFolder, SessionMeta,
    },
};

use crate::{
    sample::{AT_MS, file_bytes, log_of, read},
    stage::{
        Disk, call, extends, history, new_session, options, place, project, send, settings, short, short_item,
        simple_turn, stored,
    },
};

pub(crate) struct Desk {
    pub(crate) folder: SessionFolder,
    pub(crate) disk: Arc<Disk>,
    _temporary: tempfile::TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = SessionFolder::new(temporary.path().join("s1"));
        Self { folder, disk: Disk::project("Use tabs."), _temporary: temporary }
    }

    pub(crate) async fn create(&self) -> Session {
        Session::create(&self.folder, new_session(), options(&self.disk)).await.unwrap()
    }

    async fn resume(&self) -> Resumed {
        self.resume_with(options(&self.disk)).await
    }

    async fn resume_with(&self, options: SessionOptions) -> Resumed {
        Session::resume(&self.folder, options).await.unwrap()
    }

    fn records(&self) -> Vec<String> {
        let (lines, report) = read(&file_bytes(&self.folder.log_path()));
        assert!(report.is_clean(), "{:?}", report.findings);
        lines.iter().map(|line| short(&line.decode().unwrap().item)).collect()
    }
}

/// Everything that is in a history, entry by entry.
pub(crate) fn entries(session: &Session) -> Vec<String> {
    let of = |entry: &Entry| {
        let state = entry.state();
        let told = state.world_state_baseline().map(|told| serde_json::to_string(told).unwrap());
        let reference = state.reference_context_item().map(|context| context.as_str().to_owned());
        let what = match entry {
            Entry::Item(item) => format!(
                "{} {:?} {:?} {:?} {:?} {:?} {:?} {}",
                item.item().as_str(),
                item.model(),
                item.kinds(),
                item.turn(),
                item.origin(),
                item.truncation_limit(),
                item.acceptance_order(),
                item.tokens(),
            ),
            Entry::Fact(fact) => format!("{:?} {:?}", fact.fact(), fact.turn()),
        };
        format!("{} {what} {told:?} {reference:?} {:?} {}", entry.position(), state.turn(), state.tokens())
    };
    session.history().entries().map(of).collect()
}

#[tokio::test]
async fn what_is_rebuilt_is_what_was_live_and_the_next_prompt_is_the_same() {
    let desk = Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text("looking"), call("c1")]).await.unwrap();
    let long = "x".repeat(100_000);
    let open = turn.open_calls();
    turn.record_output(&open[0], session::ToolResult::text(long).held_to(50)).await.unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text("done")]).await.unwrap();
    turn.finish().await.unwrap();
    session.set_model(ModelSettings::from("m2").with_instructions("Be brief."));
    simple_turn(&session, "two", "2").await;

    let live = entries(&session);
    let models: Vec<_> = session.history().items().map(|item| item.model().map(str::to_owned)).collect();
    let answered: Vec<&str> = models.iter().flatten().map(String::as_str).collect();
    assert_eq!(answered, ["m1", "m1", "m1", "m2"], "the model that made an item is known");
    let turn = session.begin_turn(UserInput::text("three")).unwrap();
    let would_be = turn.next_step().await.unwrap().prompt().input_json();
    // The step is in the log of that session; the other one starts from a log without it.
    session.close().await.unwrap();
    let bytes = file_bytes(&desk.folder.log_path());
    let (lines, _) = read(&bytes);
    let cut = lines.iter().rfind(|line| line.type_name() == "turn_started").unwrap().offset();
    std::fs::OpenOptions::new().write(true).open(desk.folder.log_path()).unwrap().set_len(cut).unwrap();

    let model = ModelSettings::from("m2").with_instructions("Be brief.");
    let manager = agents_md::AgentsMdManager::on_blocking(agents_md::Discovery::default(), Arc::clone(&desk.disk));
    let options = SessionOptions::new(settings().with_model(model), crate::stage::moment()).with_instructions(manager);
    let resumed = desk.resume_with(options).await;
    assert!(resumed.report.is_clean() && resumed.interrupted.is_none());
    assert_eq!(entries(&resumed.session), live);
    assert_eq!(resumed.session.id(), "s1");
    let turn = resumed.session.begin_turn(UserInput::text("three")).unwrap();
    assert_eq!(turn.id().as_str(), "turn-3");
    let step = send(&turn).await;
    assert_eq!(step.prompt().input_json(), would_be);
    assert_eq!(step.context().parts().text(PartName::Base), "You are careful.");
}

#[tokio::test]
async fn b17_what_changed_on_disk_meanwhile_is_one_replacement_at_the_first_step() {
    let desk = Desk::new();
    let session = desk.create().await;
    let first = simple_turn(&session, "one", "1").await;
    let before = stored(&session);
    drop(session);
    desk.disk.becomes(project("Use two spaces."));

    let session = desk.resume().await.session;
    assert_eq!((stored(&session), desk.disk.accesses()), (before.clone(), 0), "no file of the project was read");
    let step = simple_turn(&session, "two", "2").await;
    assert!(step.prompt().input_json().starts_with(first.prompt().input_json().strip_suffix(']').unwrap()));
    simple_turn(&session, "three", "3").await;
    assert_eq!(
        history(&session)[before.len()..],
        ["user(# AGENTS.md instructions for /r)", "user(two)", "assistant(2)", "user(three)", "assistant(3)"]
    );
    assert!(stored(&session)[before.len()].contains("replace all previously provided"));
}

/// Another machine has the files and nothing else: no lock, no index, other times.
#[tokio::test]
async fn s18_copied_logs_are_listed_and_go_on_with_the_same_prompt() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let disk = Disk::project("Use tabs.");
    let mut prompts = Vec::new();
    for name in ["a", "b"] {
        let folder = SessionFolder::new(here.path().join(name));
        let session = Session::create(&folder, session::NewSession::new(name), options(&disk)).await.unwrap();
        let turn = session.begin_turn(UserInput::text(format!("{name} {}", "long ".repeat(10_000)))).unwrap();
        send(&turn).await;
        turn.record([WireItem::assistant_text("1")]).await.unwrap();
        turn.finish().await.unwrap();
        prompts.push((name.to_owned(), session.preview().input_json()));
        session.close().await.unwrap();
        let copy = SessionFolder::new(there.path().join(name));
        std::fs::create_dir_all(copy.blobs_path()).unwrap();
        std::fs::copy(folder.log_path(), copy.log_path()).unwrap();
        for blob in std::fs::read_dir(folder.blobs_path()).unwrap() {
            let blob = blob.unwrap();
            std::fs::copy(blob.path(), copy.blobs_path().join(blob.file_name())).unwrap();
        }
    }
    drop(here);
    // A session of which nothing came yet hides none of the others.
    std::fs::create_dir(there.path().join("c")).unwrap();
    std::fs::write(SessionFolder::new(there.path().join("c")).log_path(), b"").unwrap();
    let mut found = Vec::new();
    for folder in session::store::FsStore::sessions(there.path()).unwrap() {
        match Session::resume(&folder, options(&disk)).await {
            Ok(resumed) => {
                assert!(resumed.report.is_clean());
                let session = resumed.session;
                found.push((session.id().to_owned(), session.preview().input_json()));
                simple_turn(&session, "go on", "2").await;
            }
            Err(error) => {
                assert!(matches!(error, Error::Empty { .. }) && folder.path().ends_with("c"), "{error}");
            }
        }
    }
    assert_eq!(found, prompts);
}

/// A type and a version that are not known here stand in the log of a session that goes on, and change nothing.
#[tokio::test]
async fn s08_a_record_that_is_not_known_is_no_part_of_a_prompt() {
    let desk = Desk::new();
    let session = desk.create().await;
    simple_turn(&session, "one", "1").await;
    let prompt = session.preview().input_json();
    session.close().await.unwrap();
    let mut writer = desk.folder.open_writer(&Owner::this_process("here", AT_MS), Durability::Flush).unwrap().writer;
    let dream = |version| RolloutItem::Other { type_name: "dream".into(), version, payload: crate::sample::raw("{}") };
    writer.append(AT_MS, &[Draft::from(dream(1)), Draft::from(dream(7))], Durability::Flush).unwrap();
    drop(writer);
    let resumed = desk.resume().await;
    assert_eq!(resumed.report.unknown.get("dream"), Some(&2));
    assert_eq!(resumed.session.preview().input_json(), prompt);
    simple_turn(&resumed.session, "two", "2").await;
    resumed.session.close().await.unwrap();
    let dreams =
        desk.folder.events().unwrap().filter(|event| event.as_ref().unwrap().record.item.type_name() == "dream");
    assert_eq!(dreams.count(), 2, "they are kept");
}

#[tokio::test]
async fn a_turn_that_was_live_is_closed_and_the_model_reads_what_became_of_its_calls() {
    let desk = Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    let sent = send(&turn).await;
    turn.record([call("c1"), call("c2")]).await.unwrap();
    turn.record_output(&turn.open_calls()[0], "ok").await.unwrap();
    drop((turn, session));

    let Resumed { session, interrupted, .. } = desk.resume().await;
    let interrupted = interrupted.unwrap();
    let closed: Vec<&str> = interrupted.closed_calls.iter().map(|call| call.call_id()).collect();
    assert_eq!((interrupted.id.as_str(), closed), ("turn-1", vec!["c2"]));
    assert_eq!(desk.records()[12..], ["opened", "user(<turn_aborted>)", "turn_aborted(process_ended)"]);
    assert!(stored(&session).last().unwrap().contains("check what they did before you repeat them"));
    drop(session);

    // A second resume finds nothing to close.
    let Resumed { session, interrupted, .. } = desk.resume().await;
    assert!(interrupted.is_none());
    let turn = session.begin_turn(UserInput::text("two")).unwrap();
    assert_eq!(turn.id().as_str(), "turn-2");
    let step = send(&turn).await;
    assert!(extends(step.prompt().proof()));
    let items: Vec<String> = step.prompt().items().iter().map(|item| short_item(item.item())).collect();
    assert_eq!(items[..3], history(&session)[..3]);
    assert_eq!(
        items[3..],
        [
            "call(c1)",
            "call(c2)",
            "output(c2, aborted: the tool was started and its outcome is unknown; check what it has done before you call it again)",
            "output(c1, ok)",
            "user(<turn_aborted>)",
            "user(two)"
        ]
    );
    assert_eq!(sent.prompt().items().len(), 3);
}

/// The words of the user never came into the log, so there is nothing that the model could ask itself about.
#[tokio::test]
async fn a_turn_whose_input_was_torn_off_is_closed_without_a_word() {
    for kept in ["turn_started", "world_state", "turn_context"] {
        let desk = Desk::new();
        let session = desk.create().await;
        simple_turn(&session, "one", "1").await;
        session.set_model(ModelSettings::from("m2").with_instructions("Be brief."));
        let turn = session.begin_turn(UserInput::text("two")).unwrap();
        turn.next_step().await.unwrap();
        drop((turn, session));
        let (lines, _) = read(&file_bytes(&desk.folder.log_path()));
        let last = lines.iter().rposition(|line| line.type_name() == kept).unwrap();
        let cut = lines[last + 1].offset();
        std::fs::OpenOptions::new().write(true).open(desk.folder.log_path()).unwrap().set_len(cut).unwrap();

        let Resumed { session, interrupted, .. } = desk.resume().await;
        assert_eq!(interrupted.unwrap().id.as_str(), "turn-2", "{kept}");
        assert_eq!(desk.records()[last + 1..], ["opened", "turn_aborted(process_ended)"], "{kept}");
        session.set_model(ModelSettings::from("m2").with_instructions("Be brief."));
        simple_turn(&session, "three", "3").await;
        let switches = stored(&session).iter().filter(|item| item.contains("Be brief.")).count();
        assert_eq!(switches, 1, "{kept}: {:?}", history(&session));
    }
}

#[tokio::test]
async fn reasoning_of_another_model_is_left_out_after_a_resume_too() {
    let desk = Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    let reasoning = br#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"xxxx"}"#;
    turn.record([WireItem::parse(reasoning).unwrap(), WireItem::assistant_text("done")]).await.unwrap();
    turn.finish().await.unwrap();
    session.set_model(ModelSettings::from("m2"));
    let turn = session.begin_turn(UserInput::text("two")).unwrap();
    let step = turn.next_step().await.unwrap();
    assert!(!step.prompt().input_json().contains("rs_1"), "it is for m1 alone");
    turn.mark_sent(&step).await.unwrap();
    turn.finish().await.unwrap();
    session.close().await.unwrap();

    // The prompt that was sent last is made once more, for the model that was asked.
    let resumed = desk.resume_with(options(&desk.disk)).await;
    assert!(resumed.report.is_clean(), "{:?}", resumed.report.findings);
    let turn = resumed.session.begin_turn(UserInput::text("three")).unwrap();
    let step = turn.next_step().await.unwrap();
    assert!(step.prompt().input_json().contains("rs_1"), "m1 is asked again");
    assert!(step.prompt().proof().is_legal(), "{:?}", step.prompt().proof());
}

#[tokio::test]
async fn a_synthetic_output_that_was_sent_stays_after_a_resume() {
    let desk = Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    turn.record([call("c1")]).await.unwrap();
    turn.abort(session::AbortReason::Interrupted).await.unwrap();
    let turn = session.begin_turn(UserInput::text("two")).unwrap();
    let sent = send(&turn).await;
    assert_eq!(sent.prompt().synthetic_outputs().len(), 1);
    turn.record([WireItem::assistant_text("2")]).await.unwrap();
    turn.finish().await.unwrap();
    session.close().await.unwrap();
    assert!(matches!(turn.next_step().await, Err(Error::Closed)));
    assert!(matches!(session.close().await, Err(Error::Closed)));

    let session = desk.resume().await.session;
    let turn = session.begin_turn(UserInput::text("three")).unwrap();
    send(&turn).await;
    // The output comes after all, through a host that keeps such things.
    turn.record([WireItem::function_call_output("c1", "late")]).await.unwrap();
    let step = send(&turn).await;
    let items: Vec<String> = step.prompt().items().iter().map(|item| short_item(item.item())).collect();
    assert_eq!(items[3], "call(c1)");
    assert!(items[4].starts_with("output(c1, aborted: the tool was started"), "{items:?}");
    assert!(items.last().unwrap().starts_with("user(Output of the tool call c1, which came after"), "{items:?}");
}

#[tokio::test]
async fn parts_and_modalities_of_the_last_prompt_come_from_the_log() {
    let desk = Desk::new();
    let session = desk.create().await;
    session.set_model(Model::new("m1").with_modalities(Modalities::TEXT));
    session.set_tools(r#"[{"type":"function","name":"run"}]"#).unwrap();
    session.set_schema(r#"{"type":"object"}"#).unwrap();
    let picture = UserInput::text("look").with_image("https://a.example/cat.png", "auto");
    let turn = session.begin_turn(picture).unwrap();
    let step = turn.next_step().await.unwrap();
    assert_eq!(step.prompt().media().removed_images, 1);
    turn.mark_sent(&step).await.unwrap();
    turn.record([WireItem::assistant_text("1")]).await.unwrap();
    turn.finish().await.unwrap();
    assert_eq!(desk.records().iter().filter(|record| *record == "parts").count(), 1);
    drop((turn, session));

    // The host comes back with other tools and a model that sees: both are declared, and nothing else breaks.
    let session = desk.resume().await.session;
    let turn = session.begin_turn(UserInput::text("again")).unwrap();
    let step = turn.next_step().await.unwrap();
    let broken = step.prompt().proof().broken().unwrap();
    assert_eq!(broken.parts, [PartName::Tools, PartName::Schema]);
    assert!(broken.is_declared(), "{broken:?}");
    turn.mark_sent(&step).await.unwrap();
    assert_eq!(desk.records().iter().filter(|record| *record == "parts").count(), 2);
    turn.record([WireItem::assistant_text("2")]).await.unwrap();
    turn.finish().await.unwrap();
    drop((turn, session));
    let session = desk.resume().await.session;
    let turn = session.begin_turn(UserInput::text("once more")).unwrap();
    let step = turn.next_step().await.unwrap();
    assert!(matches!(step.prompt().proof(), Proof::Extends { .. }), "{:?}", step.prompt().proof());
}

#[tokio::test]
async fn a_switch_of_the_model_over_a_resume_is_said() {
    let desk = Desk::new();
    let session = desk.create().await;
    simple_turn(&session, "one", "1").await;
    drop(session);
    let model = ModelSettings::from("m2").with_instructions("Be brief.");
    let manager = agents_md::AgentsMdManager::on_blocking(agents_md::Discovery::default(), Arc::clone(&desk.disk));
    let options = SessionOptions::new(settings().with_model(model), crate::stage::moment()).with_instructions(manager);
    let session = desk.resume_with(options).await.session;
    simple_turn(&session, "two", "2").await;
    assert_eq!(history(&session)[4..], ["developer(<model_switch>)", "user(two)", "assistant(2)"]);
}

/// What a failed resume must leave as it was: the log, and the folder.
fn everything_in(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), file_bytes(&entry.path())))
        .collect();
    files.sort();
    files
}

/// Puts `bytes` where the log is, and checks that resuming says `words` and writes nothing.
async fn refuses(bytes: &[u8], words: &[&str]) -> Error {
    let desk = Desk::new();
    std::fs::create_dir_all(desk.folder.path()).unwrap();
    std::fs::write(desk.folder.log_path(), bytes).unwrap();
    let before = everything_in(desk.folder.path());
    let error = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap_err();
    let said = error.to_string();
    assert!(said.contains(&desk.folder.log_path().display().to_string()), "no file is named in: {said}");
    for word in words {
        assert!(said.contains(word), "`{word}` is missing in: {said}");
    }
    assert_eq!(everything_in(desk.folder.path()), before);
    error
}

async fn sound_log() -> Vec<u8> {
    let desk = Desk::new();
    let session = desk.create().await;
    simple_turn(&session, "one", "1").await;
    simple_turn(&session, "two", "2").await;
    drop(session);
    file_bytes(&desk.folder.log_path())
}

#[tokio::test]
async fn what_is_no_log_or_cannot_be_trusted_is_refused_by_name_and_place() {
    refuses(b"Dear diary\n", &["cannot be appended to", "no log that is known"]).await;
    refuses(b"", &["is empty", "no byte"]).await;
    let codex = br#"{"timestamp":"2026-09-01T08:00:00.000Z","type":"event_msg","payload":{"type":"task_started"}}"#;
    let error = refuses(codex, &["a Codex rollout"]).await;
    assert!(matches!(error, Error::NotOurs { format: LogFormat::Codex, .. }));
    refuses(b"\x28\xB5\x2F\xFD", &["compressed with zstd"]).await;

    // Without a log nothing is made.
    let desk = Desk::new();
    let error = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert!(!desk.folder.path().exists());
}

#[tokio::test]
async fn an_edited_log_and_one_of_a_newer_version_are_refused() {
    let log = String::from_utf8(sound_log().await).unwrap();
    let edited = log.replacen("one", "two", 1);
    refuses(edited.as_bytes(), &["cannot be resumed: byte ", "line ", "edited: the checksum is"]).await;

    let newer = log_of(&[Draft::from(RolloutItem::Other {
        type_name: "session_meta".into(),
        version: 9,
        payload: crate::sample::raw("{}"),
    })]);
    refuses(&newer, &["`session_meta` (version 9) must be understood", "byte 0 (line 1)"]).await;
    let headless: String = log.split_inclusive('\n').skip(1).collect();
    refuses(headless.as_bytes(), &["the log does not start with session_meta"]).await;
}

#[tokio::test]
async fn a_prompt_that_cannot_be_made_again_is_refused() {
    let log = String::from_utf8(sound_log().await).unwrap();
    // A whole record is gone, so every line is what its writer wrote and the history is not.
    let without_answer: String = log.split_inclusive('\n').filter(|line| !line.contains(r#""text":"1""#)).collect();
    let error =
        refuses(without_answer.as_bytes(), &["marks as sent cannot be made again", "it has 4 items where 5"]).await;
    assert!(matches!(error, Error::SentMismatch { ordinal: Some(_), .. }));
}

#[tokio::test]
async fn a_record_that_does_not_fit_is_named_with_its_place() {
    let desk = Desk::new();
    let session = desk.create().await;
    simple_turn(&session, "one", "1").await;
    drop(session);
    // A writer of another make repeats a position.
    let (lines, _) = read(&file_bytes(&desk.folder.log_path()));
    let item = lines.iter().find(|line| line.type_name() == "item").unwrap();
    let owner = Owner::this_process("elsewhere", AT_MS);
    let Opening { mut writer, .. } = desk.folder.open_writer(&owner, Durability::Flush).unwrap();
    let appended = writer.append(AT_MS, &[item.to_draft()], Durability::Flush).unwrap();
    drop(writer);
    let error = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}: record {} at byte {} cannot be replayed: position 0 does not follow position 5",
            desk.folder.log_path().display(),
            appended.first,
            appended.offset
        )
    );
}

#[tokio::test]
async fn a_log_in_use_names_its_holder_and_a_torn_tail_is_cut() {
    let desk = Desk::new();
    let session = desk.create().await;
    simple_turn(&session, "one", "1").await;
    let before = file_bytes(&desk.folder.log_path());
    let error = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap_err();
    let Error::Busy { pid, host, .. } = &error else { panic!("{error}") };
    assert_eq!((*pid, host.as_deref()), (Some(std::process::id()), Some("localhost")));
    assert_eq!(file_bytes(&desk.folder.log_path()), before);
    let live = entries(&session);
    drop(session);

    let mut torn = before.clone();
    torn.extend(br#"{"timestamp":"2026-10-20T08:00:00.123Z","ordinal":"#);
    std::fs::write(desk.folder.log_path(), torn).unwrap();
    let resumed = desk.resume().await;
    assert_eq!(resumed.report.torn_tail.map(|tail| tail.offset), Some(before.len() as u64));
    assert_eq!(entries(&resumed.session), live);
    simple_turn(&resumed.session, "two", "2").await;
    desk.records();
}

#[tokio::test]
async fn a_header_alone_is_a_session_in_which_nothing_happened() {
    let desk = Desk::new();
    drop(desk.create().await);
    let resumed = desk.resume().await;
    assert_eq!(resumed.session.history().entry_count(), 0);
    assert_eq!(simple_turn(&resumed.session, "one", "1").await.prompt().items().len(), 3);
}

#[tokio::test]
async fn another_truncation_policy_changes_nothing_that_was_recorded() {
    let desk = Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    turn.record([call("c1")]).await.unwrap();
    turn.record_output(&turn.open_calls()[0], "y".repeat(10_000)).await.unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text("1")]).await.unwrap();
    turn.finish().await.unwrap();
    let live = entries(&session);
    drop((turn, session));
    let tight = context_manager::TruncationPolicy::new(Limit::Tokens(10));
    let session = desk.resume_with(options(&desk.disk).with_truncation(tight)).await.session;
    assert_eq!(entries(&session), live);
}

#[tokio::test]
async fn a_log_of_another_writer_is_taken_as_it_is() {
    let desk = Desk::new();
    let owner = Owner::this_process("elsewhere", AT_MS);
    let mut meta = SessionMeta::new("s9");
    meta.base_instructions = Some(session::rollout::RawJson::string("Base."));
    drop(desk.folder.create(&meta, &owner, Durability::Flush).unwrap());
    let session = desk.resume().await.session;
    assert_eq!(session.id(), "s9");
    session.set_environments([place("/s")]);
    let step = simple_turn(&session, "one", "1").await;
    assert_eq!(step.context().parts().text(PartName::Base), "Base.");
}

#[tokio::test]
async fn where_no_baseline_is_left_a_switch_is_told_against_the_last_turn_context() {
    let desk = Desk::new();
    let session = desk.create().await;
    simple_turn(&session, "one", "1").await;
    drop(session);
    // The record of the world state is damaged; the items that told it are not.
    let log = String::from_utf8(file_bytes(&desk.folder.log_path())).unwrap();
    let damaged: String = log
        .split_inclusive('\n')
        .map(|line| if line.contains(r#""type":"world_state""#) { "garbage\n" } else { line })
        .collect();
    std::fs::write(desk.folder.log_path(), damaged).unwrap();
    let model = ModelSettings::from("m2").with_instructions("Be brief.");
    let manager = agents_md::AgentsMdManager::on_blocking(agents_md::Discovery::default(), Arc::clone(&desk.disk));
    let options = SessionOptions::new(settings().with_model(model), crate::stage::moment()).with_instructions(manager);
    let resumed = desk.resume_with(options).await;
    assert!(!resumed.report.is_clean(), "the damage is reported");
    assert!(resumed.session.history().world_state_baseline().is_none());
    simple_turn(&resumed.session, "two", "2").await;
    let said = history(&resumed.session);
    assert_eq!(said[4], "developer(<model_switch>)");
    // What may have been told is told again, as what it is now.
    let replaced = stored(&resumed.session).iter().filter(|item| item.contains("replace all previously")).count();
    assert_eq!((replaced, said.last().map(String::as_str)), (1, Some("assistant(2)")));
}

#[tokio::test]
async fn the_codex_preset_is_rebuilt_as_well() {
    let desk = Desk::new();
    let codex = || options(&desk.disk).with_preset(session::Preset::Codex);
    let session = Session::create(&desk.folder, new_session(), codex()).await.unwrap();
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    let step = send(&turn).await;
    assert_eq!(step.prompt().profile().name, "codex");
    turn.record([call("c1")]).await.unwrap();
    turn.record_output(&turn.open_calls()[0], "z".repeat(100_000)).await.unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text("1")]).await.unwrap();
    turn.finish().await.unwrap();
    let live = entries(&session);
    session.close().await.unwrap();
    let session = desk.resume_with(codex()).await.session;
    assert_eq!(entries(&session), live);
    // A host that comes back with another profile can still check what was sent, and the change is declared.
    session.close().await.unwrap();
    let session = desk.resume().await.session;
    let turn = session.begin_turn(UserInput::text("two")).unwrap();
    assert!(turn.next_step().await.unwrap().prompt().proof().is_legal());
}

#[tokio::test]
async fn a_profile_that_nobody_knows_is_named() {
    let desk = Desk::new();
    let mut mine = context_manager::Profile::responses();
    mine.name = "mine".into();
    let session =
        Session::create(&desk.folder, new_session(), options(&desk.disk).with_profile(mine.clone())).await.unwrap();
    simple_turn(&session, "one", "1").await;
    drop(session);
    let error = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap_err();
    assert!(error.to_string().contains("the profile `mine` by which the prompt was made is not known"), "{error}");
    desk.resume_with(options(&desk.disk).with_profile(mine)).await;
}

/// Of several records that do not fit, the first one is the cause.
#[tokio::test]
async fn the_first_record_that_does_not_fit_is_told() {
    let desk = Desk::new();
    let recorded = |position| {
        Record::from(RolloutItem::Item(WireItem::user_text("one")))
            .with_metadata(Metadata::new().with_position(position))
            .into()
    };
    let header = RolloutItem::SessionMeta(SessionMeta::new("s1")).into();
    std::fs::create_dir(desk.folder.path()).unwrap();
    let log = log_of(&[header, recorded(5), recorded(4), recorded(6), recorded(2)]);
    std::fs::write(desk.folder.log_path(), log).unwrap();
    let error = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap_err();
    assert!(matches!(error, Error::Replay { ordinal: Some(2), .. }), "{error}");
    assert!(error.to_string().contains("position 4 does not follow"), "{error}");
}
