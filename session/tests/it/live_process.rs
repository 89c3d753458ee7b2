//! A session in a process that is killed, and another process that goes on.
//!
//! The child is this test program again, running the ignored test below; it takes its folder from its input.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use agents_md::{AgentsMdManager, Discovery};
use context_fragments::WireItem;
use session::{
    AbortReason, ModelSettings, NewSession, Session, SessionEnvironment, SessionOptions, Settings, UserInput,
    rollout::{SessionFolder, Sha256},
};

use crate::{
    child::{input, say},
    sample::{file_bytes, read},
    stage::{call, moment, permissions, send, short, simple_turn},
};

fn options(root: &Path, model: ModelSettings, place: &str) -> SessionOptions {
    let environment = SessionEnvironment::new("local", root.join(place)).with_shell("bash");
    let settings = Settings::new(model, permissions())
        .with_environments([environment])
        .with_tools(r#"[{"type":"function","name":"sh"}]"#)
        .unwrap();
    SessionOptions::new(settings, moment()).with_instructions(AgentsMdManager::on_host(Discovery::default()))
}

fn second_model() -> ModelSettings {
    ModelSettings::from("m2").with_instructions("Be brief.")
}

/// First turn with tool calls, an AGENTS.md that another selection replaces, a model switch, an abort with an open call.
async fn talk(session: &Session, root: &Path) {
    let turn = session.begin_turn(UserInput::text("fix the bug")).unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text("looking"), call("c1"), call("c2")]).await.unwrap();
    for open in turn.open_calls().into_iter().rev() {
        turn.record_output(&open, format!("output of {}", open.call_id())).await.unwrap();
    }
    send(&turn).await;
    turn.record([WireItem::assistant_text("fixed")]).await.unwrap();
    turn.finish().await.unwrap();

    session.set_environments([SessionEnvironment::new("local", root.join("two")).with_shell("bash")]);
    simple_turn(session, "now the other one", "done").await;

    session.set_model(second_model());
    let turn = session.begin_turn(UserInput::text("and test it")).unwrap();
    send(&turn).await;
    turn.record([call("c3")]).await.unwrap();
    turn.abort(AbortReason::Interrupted).await.unwrap();
}

#[tokio::test]
#[ignore = "run as a child by the test below"]
async fn child_talks_and_is_killed() {
    let root = std::path::PathBuf::from(input());
    let start = || NewSession::new("s1").with_base("You are careful.");
    let folder = SessionFolder::new(root.join("session"));
    let session = Session::create(&folder, start(), options(&root, "m1".into(), "one")).await.unwrap();
    talk(&session, &root).await;

    // What this process would send next is known from one like it.
    let twin = Session::in_memory(start(), options(&root, "m1".into(), "one")).await.unwrap();
    talk(&twin, &root).await;
    let turn = twin.begin_turn(UserInput::text("go on")).unwrap();
    let next = turn.next_step().await.unwrap().prompt().input_json();
    say(&Sha256::of(next.as_bytes()).to_string());
    input();
}

#[tokio::test]
async fn law_8_a_killed_process_is_gone_on_from_and_the_next_prompt_is_the_one_it_would_have_sent() {
    let root = tempfile::tempdir().unwrap();
    for (place, text) in [("one", "Use tabs."), ("two", "Use spaces.")] {
        std::fs::create_dir_all(root.path().join(place).join(".git")).unwrap();
        std::fs::write(root.path().join(place).join("AGENTS.md"), text).unwrap();
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "live_process::child_talks_and_is_killed", "--ignored", "--nocapture", "--test-threads=1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{}", root.path().display()).unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let would_be = lines.into_iter().find_map(|line| line.split_once("child: ").map(|(_, word)| word.to_owned()));
    child.kill().unwrap();
    child.wait().unwrap();
    let would_be = would_be.expect("the child ended without a word");

    let folder = SessionFolder::new(root.path().join("session"));
    let resumed = Session::resume(&folder, options(root.path(), second_model(), "two")).await.unwrap();
    assert!(resumed.report.is_clean() && resumed.interrupted.is_none());
    let turn = resumed.session.begin_turn(UserInput::text("go on")).unwrap();
    // `send` has the guard prove that the prompt extends the one that the dead process sent last.
    let step = send(&turn).await;
    assert_eq!(Sha256::of(step.prompt().input_json().as_bytes()).to_string(), would_be);
    turn.record([WireItem::assistant_text("gone on")]).await.unwrap();
    turn.finish().await.unwrap();

    let (lines, report) = read(&file_bytes(&folder.log_path()));
    assert!(report.is_clean(), "{:?}", report.findings);
    let short: Vec<String> = lines
        .iter()
        .map(|line| short(&line.decode().unwrap().item))
        .map(|text| text.replace(&root.path().display().to_string(), ""))
        .collect();
    let want = [
        "session_meta",
        "opened",
        "turn_started",
        "developer(<permissions instructions>)",
        "user(# AGENTS.md instructions for /one | <environment_context>)",
        "world_state(full)",
        "turn_context",
        "user(fix the bug)",
        "sent",
        "assistant(looking)",
        "call(c1)",
        "call(c2)",
        "output(c2, output of c2)",
        "output(c1, output of c1)",
        "sent",
        "assistant(fixed)",
        "turn_ended",
        "turn_started",
        "user(# AGENTS.md instructions for /two | <environment_context>)",
        r#"world_state({"agents_md":{"directory":"/two","text":"Use spaces."},"environments":{"environments":{"local":{"cwd":"/two"}}}})"#,
        "turn_context",
        "user(now the other one)",
        "sent",
        "assistant(done)",
        "turn_ended",
        "turn_started",
        "developer(<model_switch>)",
        r#"world_state({"collaboration_mode":{"model":"m2"},"model":"m2"})"#,
        "turn_context",
        "user(and test it)",
        "sent",
        "call(c3)",
        "user(<turn_aborted>)",
        "turn_aborted(interrupted)",
        "opened",
        "turn_started",
        "turn_context",
        "user(go on)",
        "sent",
        "assistant(gone on)",
        "turn_ended",
    ];
    assert_eq!(short, want);
}
