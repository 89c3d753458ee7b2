//! Two turns with a tool; the process dies in the second one, and another process goes on.
//!
//! `cargo run -p session --example session`. The model is played by a script, so that no network is needed.

#![allow(clippy::print_stdout, reason = "the example shows what happens")]

use std::{
    error::Error,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use agents_md::{AgentsMdManager, Discovery};
use context_fragments::{ApprovalPolicy, Permissions, SandboxMode, WireItem};
use context_manager::Proof;
use session::{
    Moment, NewSession, Session, SessionEnvironment, SessionOptions, Settings, Step, Turn, UserInput,
    rollout::{LoggedOrigin, SessionFolder},
};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<ExitCode> {
    if let Some(root) = std::env::args_os().nth(1) {
        return until_it_dies(Path::new(&root)).await;
    }
    let temporary = tempfile::tempdir()?;
    let root = temporary.path();
    std::fs::create_dir_all(root.join("app/.git"))?;
    std::fs::write(root.join("app/AGENTS.md"), "Use tabs.")?;

    println!("== a first process");
    let status = Command::new(std::env::current_exe()?).arg(root).status()?;
    println!("   it is gone ({})\n", if status.success() { "by itself" } else { "killed" });
    std::fs::write(root.join("app/AGENTS.md"), "Use two spaces.")?;
    println!("== meanwhile somebody edits AGENTS.md\n");

    println!("== a second process");
    go_on(root).await?;

    println!("\n== the log");
    for event in SessionFolder::new(root.join("session")).events()? {
        let event = event?;
        let (ordinal, record) = (event.ordinal.unwrap_or_default(), &event.record);
        let turn = record.metadata.turn_id.as_deref().unwrap_or_default();
        let origin = record.metadata.origin.as_ref().map_or("", LoggedOrigin::as_str);
        println!("{}", format!("{ordinal:>5}  {:<13} {turn:<7} {origin}", record.item.type_name()).trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// The first process: one whole turn, and half of another one.
async fn until_it_dies(root: &Path) -> Outcome<ExitCode> {
    let folder = SessionFolder::new(root.join("session"));
    let start = NewSession::new("demo").with_base("You are a careful engineer.");
    let session = Session::create(&folder, start, options(root)?).await?;

    let turn = session.begin_turn(UserInput::text("Which files are there?"))?;
    loop {
        let step = send(&turn).await?;
        turn.record(model(&step)).await?;
        let calls = turn.open_calls();
        if calls.is_empty() {
            break;
        }
        for call in calls {
            println!("   tool   {} runs", call.name().unwrap_or_default());
            turn.record_output(&call, "main.rs\nlib.rs").await?;
        }
    }
    turn.finish().await?;

    let turn = session.begin_turn(UserInput::text("Delete them."))?;
    send(&turn).await?;
    turn.record([WireItem::function_call("rm", r#"{"files":["main.rs","lib.rs"]}"#, "call-2")]).await?;
    println!("   tool   rm runs, and then the process dies");
    std::process::abort();
}

/// The second process: the same session, the next turn.
async fn go_on(root: &Path) -> Outcome<()> {
    let resumed = Session::resume(&SessionFolder::new(root.join("session")), options(root)?).await?;
    println!("   {} records, {} problems", resumed.report.records, resumed.report.findings.len());
    if let Some(interrupted) = &resumed.interrupted {
        let calls: Vec<&str> = interrupted.closed_calls.iter().map(|call| call.call_id()).collect();
        println!("   {} was interrupted, without a result for {}", interrupted.id, calls.join(", "));
    }
    let turn = resumed.session.begin_turn(UserInput::text("What happened?"))?;
    let step = send(&turn).await?;
    println!("   the model reads:");
    for item in step.prompt().items() {
        println!("     {}", shortened(item.item(), root));
    }
    turn.record([WireItem::assistant_text("I do not know yet whether rm did it: I will look first.")]).await?;
    turn.finish().await?;
    Ok(())
}

fn options(root: &Path) -> Outcome<SessionOptions> {
    let permissions = Permissions::new(SandboxMode::WorkspaceWrite, ApprovalPolicy::OnRequest);
    let settings = Settings::new("model-1", permissions)
        .with_environments([SessionEnvironment::new("local", root.join("app")).with_shell("bash")])
        .with_tools(r#"[{"type":"function","name":"ls"},{"type":"function","name":"rm"}]"#)?;
    // A host gives its own clock; this one stands still, so that the output is the same every time.
    let clock = Moment::new(1_792_483_200_123).with_date("2026-10-20".parse()?).with_timezone("Europe/Berlin");
    Ok(SessionOptions::new(settings, clock).with_instructions(AgentsMdManager::on_host(Discovery::default())))
}

/// Takes a step and says that it is sent; here a client would send `step.prompt().input_chunks()`.
async fn send(turn: &Turn) -> Outcome<Step> {
    let step = turn.next_step().await?;
    let sent = turn.mark_sent(&step).await?;
    let proof = match &sent.proof {
        Proof::First => "the first one".to_owned(),
        Proof::Identical => "the same as before".to_owned(),
        Proof::Extends { shared, new } => format!("extends the one before: {shared} items kept, {new} new"),
        Proof::Broken(broken) => broken.to_string(),
    };
    println!("   {} prompt of {} items, {proof}", turn.id(), sent.items);
    Ok(step)
}

/// What the model answers: a call, and once it has an output, words.
fn model(step: &Step) -> Vec<WireItem> {
    match step.prompt().items().last().and_then(|item| item.item().call_id()) {
        None => vec![WireItem::function_call("ls", "{}", "call-1")],
        Some(_) => vec![WireItem::assistant_text("main.rs and lib.rs.")],
    }
}

/// An item on one line.
fn shortened(item: &WireItem, root: &Path) -> String {
    let app: PathBuf = root.join("app");
    let text = item.as_str().replace(&app.display().to_string(), "/app");
    let mut short: String = text.chars().take(110).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
