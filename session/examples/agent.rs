//! A whole agent on this library: a model behind the streaming Responses wire, two tools, a log to go on from.
//!
//! ```text
//! OPENAI_BASE_URL=http://localhost:8080/v1 OPENAI_MODEL=m OPENAI_API_KEY=k \
//!     cargo run -p session --example agent -- SESSION_FOLDER "what does main.rs do?"
//! ```
//!
//! The same folder again goes on with the conversation, also after the process was killed. An address with `https` needs
//! `--features reqwest/rustls`.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program talks to its terminal and environment")]

mod agent {
    pub(crate) mod client;
    pub(crate) mod run;
    pub(crate) mod sse;
    pub(crate) mod tools;
}

use std::{env, error::Error, path::PathBuf, time::Duration};

use agent::{
    client::Endpoint,
    run::{Agent, Told},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut given = env::args().skip(1);
    let (Some(folder), Some(prompt)) = (given.next(), given.next()) else {
        return Err("usage: agent SESSION_FOLDER PROMPT".into());
    };
    let variable = |name: &str| env::var(name).map_err(|_| format!("the environment variable {name} is not set"));
    let agent = Agent {
        endpoint: Endpoint {
            base_url: variable("OPENAI_BASE_URL")?,
            model: variable("OPENAI_MODEL")?,
            key: env::var("OPENAI_API_KEY").ok(),
            attempts: 5,
            pause: Duration::from_millis(500),
        },
        session: PathBuf::from(folder),
        cwd: env::current_dir()?,
        now_ms: std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_millis().try_into()?,
        max_steps: 200,
    };
    let answer = agent.ask(&prompt, |told| match told {
        Told::Step(step) => println!("{step}"),
        Told::Tool { name, success } => println!("  tool {name}: {}", if success { "done" } else { "failed" }),
        Told::Retry(error) => println!("  {error}; the same request again"),
        Told::Interrupted(turn) => println!("  {turn} was interrupted; the model is told"),
    });
    println!("\n{}", answer.await?);
    Ok(())
}
