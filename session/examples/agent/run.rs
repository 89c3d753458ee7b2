//! The loop: a step, a request, the tools that it asks for, and again.

use std::{error::Error, fmt, path::PathBuf};

use agents_md::{AgentsMdManager, Discovery};
use context_fragments::{ApprovalPolicy, Permissions, SandboxMode};
use context_manager::Proof;
use session::{
    AbortReason, Moment, NewSession, Session, SessionEnvironment, SessionOptions, Settings, Step, Turn, Usage,
    UserInput, rollout::SessionFolder,
};

use super::{
    client::{self, Answer, Endpoint, Failure},
    tools,
};

const BASE: &str = "You are a careful engineer. Look before you answer: read files and run commands with your tools.";

/// An agent and its conversation.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) endpoint: Endpoint,
    /// The folder of the session; one that holds a log is gone on with.
    pub(crate) session: PathBuf,
    /// Where it works.
    pub(crate) cwd: PathBuf,
    pub(crate) now_ms: i64,
    /// A turn of more steps than this is ended.
    pub(crate) max_steps: usize,
}

/// What happens while a question is answered.
pub(crate) enum Told {
    Step(StepReport),
    Tool { name: String, success: bool },
    Retry(Failure),
    Interrupted(String),
}

/// One step: what was sent, whether it extends what was sent before, and what the provider's cache made of it.
#[derive(Clone, Debug)]
pub(crate) struct StepReport {
    pub(crate) turn: String,
    pub(crate) items: usize,
    pub(crate) proof: Proof,
    pub(crate) usage: Usage,
}

impl fmt::Display for StepReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} items, ", self.turn, self.items)?;
        match &self.proof {
            Proof::First => f.write_str("the first request")?,
            Proof::Identical => f.write_str("the same as before")?,
            Proof::Extends { shared, new } => write!(f, "extends the one before: {shared} kept, {new} new")?,
            Proof::Broken(broken) => write!(f, "{broken}")?,
        }
        match (self.usage.input_tokens, self.usage.cache_read_tokens) {
            (Some(input), Some(cached)) => write!(f, "; {cached} of {input} input tokens from the cache"),
            (Some(input), None) => write!(f, "; {input} input tokens"),
            _ => Ok(()),
        }
    }
}

impl Agent {
    /// Asks one question and works until it is answered.
    pub(crate) async fn ask(&self, prompt: &str, mut tell: impl FnMut(Told)) -> Result<String, Box<dyn Error>> {
        let session = self.open(&mut tell).await?;
        let client = reqwest::Client::builder().build()?;
        let turn = session.begin_turn(UserInput::text(prompt))?;
        let answered = self.work(&client, &turn, &mut tell).await;
        if answered.is_err() {
            // The log says how it ended; who asks again goes on from there.
            turn.abort(AbortReason::Failed).await?;
        }
        session.close().await?;
        answered
    }

    /// Starts a session, or goes on with the one that lies there.
    async fn open(&self, tell: &mut impl FnMut(Told)) -> Result<Session, Box<dyn Error>> {
        let folder = SessionFolder::new(&self.session);
        let id = self.session.file_name().map_or_else(|| "agent".into(), |name| name.to_string_lossy().into_owned());
        let permissions = Permissions::new(SandboxMode::DangerFullAccess, ApprovalPolicy::Never);
        let settings = Settings::new(self.endpoint.model.as_str(), permissions)
            .with_environments([SessionEnvironment::new("local", &self.cwd).with_shell("sh")])
            .with_parameters(r#"{"store":false,"include":["reasoning.encrypted_content"]}"#)?
            .with_tools(tools::TOOLS)?;
        let instructions = AgentsMdManager::on_host(Discovery::default());
        let options = SessionOptions::new(settings, Moment::new(self.now_ms)).with_instructions(instructions);
        if !folder.log_path().exists() {
            return Ok(Session::create(&folder, NewSession::new(id).with_base(BASE), options).await?);
        }
        let resumed = Session::resume(&folder, options).await?;
        if let Some(interrupted) = resumed.interrupted {
            tell(Told::Interrupted(interrupted.id.to_string()));
        }
        Ok(resumed.session)
    }

    async fn work(
        &self,
        client: &reqwest::Client,
        turn: &Turn,
        tell: &mut impl FnMut(Told),
    ) -> Result<String, Box<dyn Error>> {
        for _ in 0..self.max_steps {
            let (step, answer) = self.request(client, turn, tell).await?;
            let usage = answer.usage.as_deref().map(Usage::from_responses).transpose()?.unwrap_or_default();
            let proof = step.prompt().proof().clone();
            let report = StepReport { turn: turn.id().to_string(), items: step.prompt().items().len(), proof, usage };
            tell(Told::Step(report));
            let said = answer.items.iter().rev().find_map(text_of);
            turn.record(answer.items).await?;
            turn.record_usage(&usage).await?;
            let calls = turn.open_calls();
            if calls.is_empty() {
                turn.finish().await?;
                return Ok(said.unwrap_or_default());
            }
            for call in calls {
                let result = tools::run(&call, &self.cwd).await;
                let name = call.name().unwrap_or_default().into_owned();
                tell(Told::Tool { name, success: result.success() == Some(true) });
                turn.record_output(&call, result).await?;
            }
        }
        Err(format!("no answer after {} steps", self.max_steps).into())
    }

    /// Takes a step and has it answered; where the connection breaks, the same prompt is sent again.
    async fn request(
        &self,
        client: &reqwest::Client,
        turn: &Turn,
        tell: &mut impl FnMut(Told),
    ) -> Result<(Step, Answer), Box<dyn Error>> {
        let step = turn.next_step().await?;
        let mut pause = self.endpoint.pause;
        for attempt in 1.. {
            turn.mark_sent(&step).await?;
            let body = client::body(&self.endpoint.model, step.prompt());
            match client::send(client, &self.endpoint, body).await {
                Ok(answer) => return Ok((step, answer)),
                Err(Failure::Passing(words)) if attempt < self.endpoint.attempts => {
                    tell(Told::Retry(Failure::Passing(words)));
                }
                Err(failure) => return Err(failure.into()),
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        Err("no attempt was made".into())
    }
}

/// What an assistant message says.
fn text_of(item: &context_fragments::WireItem) -> Option<String> {
    let content = item.json().member("content")?;
    let texts = content.elements().filter_map(|part| part.member("text")?.to_str().map(String::from));
    let text = texts.collect::<Vec<_>>().concat();
    (!text.is_empty()).then_some(text)
}
