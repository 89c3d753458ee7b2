//! Settings and files that change: each arrives as an appended message, and no earlier byte moves.

use context_fragments::{ApprovalPolicy, FragmentRole, Permissions, SandboxMode, WireItem};
use context_manager::{ByteBudget, Declared, Modalities, Model, PartName, Proof};
use serde_json::json;
use session::{CollaborationMode, ModelSettings, PermissionSettings, Session, UserInput};
use world_state::{
    ApprovalRequestChannel, AppsState, ContextWindowGuidanceState, EnvironmentsInstructionsState, ExtensionSection,
    FileSystemAccess, ManagedDeveloperInstructionsState, MultiAgentModeState, NestedAgentsMdState, NetworkAccess,
    PersistentModeState, PersonalityState, PluginsState, RealtimeState, SectionDiff, SectionFragment, ToolSet,
    ToolsState,
};

use crate::stage::{
    Disk, Stage, history, options, permissions, place, project, send, short_item, simple_turn, stored,
    without_instructions,
};

/// One kind of change, and the items that the next step appends for it.
struct Case {
    name: &'static str,
    change: fn(&Session, &Disk),
    appended: &'static [&'static str],
}

const REPLACES: &str = "These AGENTS.md instructions replace all previously provided AGENTS.md instructions.";
const GONE: &str = "The previously provided AGENTS.md instructions no longer apply.";

const CASES: &[Case] = &[
    Case { name: "nothing", change: |_, _| (), appended: &[] },
    Case {
        name: "model",
        change: |session, _| session.set_model(ModelSettings::from("m2").with_instructions("Be brief.")),
        appended: &["developer(<model_switch>)"],
    },
    Case { name: "model without instructions", change: |session, _| session.set_model("m2"), appended: &[] },
    Case {
        name: "model without media",
        change: |session, _| session.set_model(Model::new("m2").with_modalities(Modalities::TEXT)),
        appended: &[],
    },
    Case {
        name: "permissions",
        change: |session, _| {
            session.set_permissions(Permissions::new(SandboxMode::DangerFullAccess, ApprovalPolicy::OnRequest));
        },
        appended: &["developer(<permissions instructions>)"],
    },
    Case {
        name: "words of permissions",
        change: |session, _| session.set_permissions(PermissionSettings::new(permissions()).with_words("Look only.")),
        appended: &["developer(<permissions instructions>)"],
    },
    Case {
        name: "approved prefix",
        change: |session, _| {
            let standing = session.settings().permissions().clone();
            session.set_permissions(standing.with_approved_prefix(["git", "pull"]));
        },
        appended: &["developer(Approved command prefix saved:)"],
    },
    Case {
        name: "collaboration mode",
        change: |session, _| {
            session.set_collaboration_mode(CollaborationMode::new("plan").with_instructions("Ask first."));
        },
        appended: &["developer(<collaboration_mode>Ask first.</collaboration_mode>)"],
    },
    Case {
        name: "environment and its instructions",
        change: |session, _| session.set_environments([place("/s")]),
        appended: &["user(# AGENTS.md instructions for /s | <environment_context>)"],
    },
    Case {
        name: "network",
        change: |session, _| session.set_network(NetworkAccess::enabled()),
        appended: &["user(<environment_context>)"],
    },
    Case {
        name: "file system",
        change: |session, _| session.set_filesystem(FileSystemAccess::new(&permissions())),
        appended: &["user(<environment_context>)"],
    },
    Case {
        name: "trust",
        change: |session, _| session.set_trust(agents_md::TrustLevel::Untrusted),
        appended: &["user(# AGENTS.md instructions)"],
    },
    Case { name: "effort", change: |session, _| session.set_effort("high"), appended: &[] },
    Case {
        name: "edited instructions",
        change: |session, disk| {
            disk.becomes(project("Use two spaces."));
            session.invalidate_instructions();
        },
        appended: &["user(# AGENTS.md instructions for /r)"],
    },
    Case {
        name: "removed instructions",
        change: |session, disk| {
            disk.becomes(without_instructions());
            session.invalidate_instructions();
        },
        appended: &["user(# AGENTS.md instructions)"],
    },
    Case {
        name: "personality",
        change: |session, _| session.set_section(PersonalityState::new("dry", "Speak dryly.")),
        appended: &["developer(<personality_spec>)"],
    },
    Case {
        name: "realtime",
        change: |session, _| session.set_section(RealtimeState::new("You speak aloud.", "You write again.").active()),
        appended: &["developer(<realtime_conversation>)"],
    },
    Case {
        name: "persistent mode",
        change: |session, _| {
            session.set_section(PersistentModeState::on("Go on alone.", ApprovalRequestChannel::None));
        },
        appended: &["developer(<persistent_mode>)"],
    },
    Case {
        name: "apps",
        change: |session, _| session.set_section(AppsState::available("Apps are there.")),
        appended: &["developer(<apps_instructions>)"],
    },
    Case {
        name: "plugins",
        change: |session, _| session.set_section(PluginsState::available("Plugins are there.")),
        appended: &["developer(<plugins_instructions>)"],
    },
    Case {
        name: "several agents",
        change: |session, _| {
            session.set_section(MultiAgentModeState::new("Alone.").with_mode("proactive", "Spread the work."));
        },
        appended: &["developer(<multi_agent_mode>)"],
    },
    Case {
        name: "instructions of the managers",
        change: |session, _| session.set_section(ManagedDeveloperInstructionsState::new(Some("Log it.".into()))),
        appended: &["developer(<managed_developer_instructions>)"],
    },
    Case {
        name: "guidance on the window",
        change: |session, _| session.set_section(ContextWindowGuidanceState::new(Some("Be short.".into()))),
        appended: &["developer(<context_window_guidance>)"],
    },
    Case {
        name: "instructions on environments",
        change: |session, _| session.set_section(EnvironmentsInstructionsState::available("There are two.")),
        appended: &["developer(<environments_instructions>)"],
    },
    Case {
        name: "nested instruction files",
        change: |session, _| session.set_section(NestedAgentsMdState::new().with_folder("/r/web", "Use pixels.")),
        appended: &["user(# Nested AGENTS.md instructions for /r/web)"],
    },
    Case {
        name: "nested files that a tool reaches",
        change: |session, disk| {
            disk.becomes(project("Use tabs.").with_file("/r/web/AGENTS.md", "Use pixels."));
            assert!(session.touch("web/src/index.ts"));
        },
        appended: &["user(# Nested AGENTS.md instructions for /r/web)"],
    },
    Case {
        name: "tools that are added",
        change: |session, _| {
            session.set_section(ToolsState::new(ToolSet::parse([r#"{"type":"function","name":"ls"}"#]).unwrap()));
        },
        appended: &["additional_tools"],
    },
    Case {
        name: "section of the host",
        change: |session, _| {
            session.set_extension(ExtensionSection::new("tickets", |previous| {
                let now = json!({"open": 3});
                if previous.known() == Some(&now) {
                    return SectionDiff::keep();
                }
                SectionDiff::set(now).tell(&SectionFragment::new("tickets", FragmentRole::Developer, "Open tickets: 3"))
            }));
        },
        appended: &["developer(Open tickets: 3)"],
    },
];

#[tokio::test]
async fn no_change_of_a_setting_moves_an_earlier_byte() {
    let mut wrong = Vec::new();
    for case in CASES {
        // Between two turns, and between two steps of one turn.
        for steps_before in [1, 0] {
            let stage = Stage::new().await;
            let mut turn = stage.session.begin_turn(UserInput::text("one")).unwrap();
            let first = send(&turn).await;
            turn.record([WireItem::assistant_text("1")]).await.unwrap();
            if steps_before == 1 {
                turn.finish().await.unwrap();
                turn = stage.session.begin_turn(UserInput::text("two")).unwrap();
            }
            let before = stored(&stage.session);
            (case.change)(&stage.session, &stage.disk);
            let second = send(&turn).await;
            assert_eq!(stored(&stage.session)[..before.len()], before, "{}", case.name);
            let prompt = first.prompt().input_json();
            let kept = prompt.strip_suffix(']').unwrap();
            assert!(second.prompt().input_json().starts_with(kept), "{}", case.name);
            let mut appended: Vec<String> = second
                .appended()
                .iter()
                .map(|position| stage.session.history().entry_at(*position).unwrap().as_item().unwrap().item().clone())
                .map(|item| short_item(&item))
                .collect();
            if steps_before == 1 {
                assert_eq!(appended.pop().as_deref(), Some("user(two)"), "{}", case.name);
            }
            let is_said = |(item, start): (&String, &&str)| item.starts_with(start.strip_suffix(')').unwrap_or(start));
            if appended.len() != case.appended.len() || !appended.iter().zip(case.appended).all(is_said) {
                wrong.push((case.name, appended));
            }

            // It is said once.
            let third = send(&turn).await;
            assert!(third.appended().is_empty(), "{}", case.name);
            assert_eq!(third.prompt().proof(), &Proof::Identical, "{}", case.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn other_parts_of_a_request_are_declared_breaks_and_move_no_item() {
    type Change = fn(&Session) -> Result<(), session::Error>;
    let cases: [(PartName, Change); 3] = [
        (PartName::Tools, |session| session.set_tools("[]")),
        (PartName::Parameters, |session| session.set_parameters(r#"{"temperature":0}"#)),
        (PartName::Schema, |session| session.set_schema(r#"{"type":"object"}"#)),
    ];
    for (part, change) in cases {
        let stage = Stage::new().await;
        let first = simple_turn(&stage.session, "one", "1").await;
        change(&stage.session).unwrap();
        let turn = stage.session.begin_turn(UserInput::text("two")).unwrap();
        let step = turn.next_step().await.unwrap();
        let broken = step.prompt().proof().broken().unwrap().clone();
        assert_eq!((broken.declared, broken.parts), (vec![Declared::Part(part)], vec![part]));
        let kept = first.prompt().input_json();
        assert!(step.prompt().input_json().starts_with(kept.strip_suffix(']').unwrap()));
        let sent = turn.mark_sent(&step).await.unwrap();
        assert!(sent.proof.is_legal());
    }
    let stage = Stage::new().await;
    let error = stage.session.set_tools("{}").unwrap_err();
    assert_eq!(error.to_string(), "the history did not take it");
    let cause = std::error::Error::source(&error).unwrap();
    assert_eq!(cause.to_string(), "tools: expected an array, found an object");
}

#[tokio::test]
async fn b12_an_edited_file_is_an_appended_replacement() {
    let stage = Stage::new().await;
    simple_turn(&stage.session, "one", "1").await;
    let before = stored(&stage.session);
    stage.disk.becomes(project("Use two spaces."));
    // Under the policy of the reference an edit alone is not seen.
    simple_turn(&stage.session, "two", "2").await;
    assert_eq!(history(&stage.session)[before.len()..], ["user(two)", "assistant(2)"]);

    stage.session.invalidate_instructions();
    simple_turn(&stage.session, "three", "3").await;
    let now = stored(&stage.session);
    assert_eq!(now[..before.len()], before);
    assert_eq!(
        now[before.len() + 2],
        format!(
            r##"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"# AGENTS.md instructions for /r\n\n<INSTRUCTIONS>\n{REPLACES}\n\nUse two spaces.\n</INSTRUCTIONS>"}}]}}"##
        )
    );
    assert_eq!(now.len(), before.len() + 5);
}

#[tokio::test]
async fn b15_a_removed_file_is_said_to_be_gone_once() {
    let stage = Stage::new().await;
    simple_turn(&stage.session, "one", "1").await;
    let before = stored(&stage.session).len();
    stage.disk.becomes(without_instructions());
    for said in ["two", "three"] {
        stage.session.invalidate_instructions();
        simple_turn(&stage.session, said, "ok").await;
    }
    let now = stored(&stage.session);
    assert_eq!(now.iter().filter(|item| item.contains(GONE)).count(), 1);
    assert_eq!(
        history(&stage.session)[before..],
        ["user(# AGENTS.md instructions)", "user(two)", "assistant(ok)", "user(three)", "assistant(ok)"]
    );

    // What comes back is no replacement: the model was told that nothing applies.
    stage.disk.becomes(project("Use tabs."));
    stage.session.invalidate_instructions();
    simple_turn(&stage.session, "four", "ok").await;
    let last = stored(&stage.session)[before + 5].clone();
    assert!(last.contains("Use tabs.") && !last.contains(REPLACES), "{last}");
}

#[tokio::test]
async fn a_switch_and_a_switch_back_are_both_said_and_the_base_stays() {
    let disk = Disk::project("Use tabs.");
    let stage = Stage::with(&disk, options(&disk)).await;
    let one = ModelSettings::from("m1").with_instructions("You are one.");
    let two = ModelSettings::from("m2").with_instructions("You are two.");
    simple_turn(&stage.session, "a", "1").await;
    stage.session.set_model(two);
    let switched = simple_turn(&stage.session, "b", "2").await;
    stage.session.set_model(one);
    let back = simple_turn(&stage.session, "c", "3").await;
    let switches: Vec<String> =
        stored(&stage.session).into_iter().filter(|item| item.contains("<model_switch>")).collect();
    assert!(switches[0].contains("You are two.") && switches[1].contains("You are one."), "{switches:?}");
    for step in [&switched, &back] {
        assert_eq!(step.context().parts().text(PartName::Base), "You are careful.");
    }
}

#[tokio::test]
async fn tools_that_are_withdrawn_are_said_and_move_nothing() {
    let stage = Stage::new().await;
    let tools = |names: &[&str]| {
        ToolsState::new(
            ToolSet::parse(names.iter().map(|name| format!(r#"{{"type":"function","name":"{name}"}}"#))).unwrap(),
        )
    };
    stage.session.set_section(tools(&["ls", "rm"]));
    let first = simple_turn(&stage.session, "one", "1").await;
    stage.session.set_section(tools(&["ls"]));
    let second = simple_turn(&stage.session, "two", "2").await;
    let kept = first.prompt().input_json();
    assert!(second.prompt().input_json().starts_with(kept.strip_suffix(']').unwrap()));
    assert_eq!(second.appended().len(), 2, "{:?}", history(&stage.session));
    assert!(stored(&stage.session).iter().any(|item| item.contains("rm") && item.contains("developer")));
    // An environment that becomes ready, a command and an agent's end are appended too.
    let notice = session::SubAgentNotice::new("/root/tests: done");
    stage.session.record_notice(&notice).await.unwrap();
    let third = simple_turn(&stage.session, "three", "3").await;
    assert!(third.prompt().proof().extends());
    assert!(stored(&stage.session).iter().any(|item| item.contains("<subagent_notification>")));
}

#[tokio::test]
async fn another_effort_is_an_appended_update_and_the_request_goes_on_with_the_first() {
    let disk = Disk::project("Use tabs.");
    let options = options(&disk).with_effort_updates();
    let stage = Stage::with(&disk, options).await;
    stage.session.set_effort("low");
    assert_eq!(simple_turn(&stage.session, "one", "1").await.effort(), Some("low"));
    let updates = |session: &Session| {
        stored(session).into_iter().filter(|item| item.contains("configuration_update")).collect::<Vec<_>>()
    };
    assert!(updates(&stage.session).is_empty());
    stage.session.set_effort("high");
    let step = simple_turn(&stage.session, "two", "2").await;
    assert_eq!(step.effort(), Some("low"), "the window keeps the effort that it began with");
    let high = r#"{"type":"configuration_update","reasoning":{"effort":"high"}}"#;
    assert_eq!(updates(&stage.session), [high]);
    assert!(step.prompt().input_json().contains(high));
    simple_turn(&stage.session, "three", "3").await;
    assert_eq!(updates(&stage.session).len(), 1, "it is said once");
    // A word of the provider's own says nothing; going back does.
    stage.session.set_effort("very-own");
    simple_turn(&stage.session, "four", "4").await;
    stage.session.set_effort("low");
    simple_turn(&stage.session, "five", "5").await;
    assert_eq!(updates(&stage.session).len(), 2);
}

#[tokio::test]
async fn an_observer_hears_of_what_is_in_the_log_and_in_the_history() {
    type Heard = Vec<(Vec<String>, usize)>;
    #[derive(Clone, Default)]
    struct Hears(std::sync::Arc<std::sync::Mutex<Heard>>);
    impl session::Observer for Hears {
        fn recorded(&self, recorded: &session::Observed<'_>) {
            self.0.lock().unwrap().push((recorded.records.to_vec(), recorded.history.item_count()));
        }
    }
    let disk = Disk::project("Use tabs.");
    let hears = Hears::default();
    let stage = Stage::with(&disk, options(&disk).with_observer(hears.clone())).await;
    simple_turn(&stage.session, "one", "1").await;
    let heard = hears.0.lock().unwrap().clone();
    let names: Vec<_> = heard.iter().map(|(records, items)| (records.join(" "), *items)).collect();
    assert_eq!(names[0].0, "turn_started item item world_state turn_context item");
    assert_eq!(names[1..], [("sent".into(), 3), ("item".into(), 4), ("turn_ended".into(), 4)]);
    assert_eq!(names[0].1, 3);
}

#[tokio::test]
async fn t11_outputs_that_are_made_shorter_stay_so_after_a_resume() {
    let desk = crate::resume::Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    turn.record([crate::stage::call("c1"), crate::stage::call("c2")]).await.unwrap();
    for (open, letter) in turn.open_calls().iter().zip(["a", "b"]) {
        turn.record_output(open, letter.repeat(8_000)).await.unwrap();
    }
    send(&turn).await;
    turn.record([WireItem::assistant_text("1")]).await.unwrap();
    turn.finish().await.unwrap();
    let baseline = session.history().world_state_baseline().cloned();
    assert!(session.shorten_outputs(5_000, 0).await.unwrap().is_none());
    let done = session.shorten_outputs(100, 3_000).await.unwrap().unwrap();
    assert_eq!(done.outputs, 1, "the newer one stands within the newest 3,000 tokens");
    assert!(done.tokens_after < done.tokens_before - 1_500);
    assert_eq!(session.history().world_state_baseline(), baseline.as_ref());
    let reduced = stored(&session);
    assert!(reduced.iter().any(|item| item.contains("tokens truncated")));
    let live = crate::resume::entries(&session);
    session.close().await.unwrap();
    // The log says what was done, and still has the whole outputs where they were recorded.
    let items: Vec<_> = desk.folder.events().unwrap().map(|event| event.unwrap().record.item).collect();
    let marker = items.iter().find_map(|item| match item {
        session::rollout::RolloutItem::Checkpoint(checkpoint) => Some(checkpoint),
        _ => None,
    });
    let marker = marker.unwrap();
    let details = marker.details.as_ref().unwrap().as_str();
    assert!(marker.cause.as_str() == "replace" && details.contains(r#""trigger":"shorten_outputs","outputs":1"#));
    let whole = |item: &session::rollout::RolloutItem| matches!(item, session::rollout::RolloutItem::Item(item) if item.as_str().contains(&"a".repeat(8_000)));
    assert_eq!(items.iter().filter(|item| whole(item)).count(), 1);
    let session = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session;
    assert_eq!(crate::resume::entries(&session), live);
    let turn = session.begin_turn(UserInput::text("two")).unwrap();
    let step = turn.next_step().await.unwrap();
    assert_eq!(step.appended().len(), 1, "nothing is said again: {:?}", history(&session));
    assert_eq!(stored(&session)[..reduced.len()], reduced);
}

#[tokio::test]
async fn t11_media_that_are_taken_out_stay_out_after_a_resume() {
    let desk = crate::resume::Desk::new();
    let session = desk.create().await;
    let image = |letter: &str| format!("data:image/png;base64,{}", letter.repeat(4_000));
    for letter in ["A", "B", "C"] {
        let turn = session.begin_turn(UserInput::text(letter).with_image(image(letter), "auto")).unwrap();
        send(&turn).await;
        turn.record([WireItem::assistant_text("seen")]).await.unwrap();
        turn.finish().await.unwrap();
    }
    assert!(session.elide_over(&ByteBudget::new(1_000_000)).await.unwrap().is_none());
    let before = stored(&session);
    let records = desk.folder.events().unwrap().count();
    let done = session.elide_over(&ByteBudget::new(8_000).down_to(6_000)).await.unwrap().unwrap();
    assert_eq!((done.media, done.elided.len()), (2, 2));
    assert_eq!(desk.folder.events().unwrap().count(), records + 2, "the checkpoint and the parts");
    let now = stored(&session);
    assert_eq!(now.len(), before.len());
    let has = |letter: &str| now.iter().any(|item| item.contains(&image(letter)));
    assert_eq!([has("A"), has("B"), has("C")], [false, false, true]);
    let proof = session.preview().proof().clone();
    assert_eq!(proof.broken().unwrap().declared, [Declared::Rewrite(context_manager::Rewrite::Elide)]);
    for (old, new) in &done.elided {
        let entry = session.history().entry_at(*new).unwrap().as_item().unwrap().clone();
        assert_eq!(entry.origin(), context_manager::Origin::User);
        assert!(entry.item().as_str().contains("[image removed") && old < new, "{}", entry.item().as_str());
    }
    let live = crate::resume::entries(&session);
    session.close().await.unwrap();
    let session = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session;
    assert_eq!(crate::resume::entries(&session), live);
    assert!(session.elide_over(&ByteBudget::new(8_000).down_to(6_000)).await.unwrap().is_none());
    let turn = session.begin_turn(UserInput::text("and?")).unwrap();
    let step = turn.next_step().await.unwrap();
    assert_eq!(step.appended().len(), 1, "nothing is said again: {:?}", history(&session));
    assert!(turn.mark_sent(&step).await.unwrap().proof.is_legal());
}

/// Between a compaction and the next step no turn context says which model the history was told.
#[tokio::test]
async fn a_model_switch_is_told_after_a_compaction_a_shortening_and_a_resume() {
    struct Short;
    #[async_trait::async_trait]
    impl session::Summarizer for Short {
        async fn summarize(&self, _: session::SummaryRequest) -> Result<session::Summary, session::SummaryError> {
            Ok(session::Summary::Text("Short.".into()))
        }
    }
    let desk = crate::resume::Desk::new();
    let session = desk.create().await;
    let turn = session.begin_turn(UserInput::text("one")).unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text(&"much ".repeat(2_000))]).await.unwrap();
    let compaction = session::Compaction::new(session::CompactionTrigger::MidTurn);
    let compaction = compaction.with_injection(session::ContextInjection::NextStep);
    session.compact(&compaction, &Short).await.unwrap();
    turn.record([crate::stage::call("c1")]).await.unwrap();
    turn.record_output(&turn.open_calls()[0], "a".repeat(8_000)).await.unwrap();
    session.shorten_outputs(100, 0).await.unwrap().unwrap();
    drop(turn);
    session.close().await.unwrap();
    let session = Session::resume(&desk.folder, options(&desk.disk)).await.unwrap().session;
    session.set_model(ModelSettings::from("m2").with_instructions("Be brief."));
    let turn = session.begin_turn(UserInput::text("two")).unwrap();
    turn.next_step().await.unwrap();
    let switches = stored(&session).iter().filter(|item| item.contains("<model_switch>")).count();
    assert_eq!(switches, 1, "{:?}", history(&session));
}
