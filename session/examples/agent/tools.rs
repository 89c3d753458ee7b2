//! What the model may do: read a file, run a command.

use std::{io::Read as _, path::Path, process::Stdio, time::Duration};

use context_fragments::json::Json;
use session::{OpenCall, ToolResult};

/// The tools, in the order in which they are sent.
pub(crate) const TOOLS: &str = r#"[
  {"type":"function","name":"read_file","description":"Reads a text file.","strict":false,
   "parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}},
  {"type":"function","name":"run_command","description":"Runs a command with sh.","strict":false,
   "parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false}}
]"#;

/// No tool gives back more; what of it the model reads is the session's bound.
const MAX_BYTES: u64 = 1 << 20;
const MAX_TIME: Duration = Duration::from_secs(120);

/// Does what a call asks for. What goes wrong is an answer too: the model reads it.
pub(crate) async fn run(call: &OpenCall, cwd: &Path) -> ToolResult {
    let arguments = call.arguments();
    let argument = |key: &str| {
        let value = Json::parse(&arguments).ok().and_then(|given| given.member(key)?.to_str().map(String::from));
        value.ok_or_else(|| format!("the argument `{key}` is missing"))
    };
    let done = match call.name().as_deref() {
        Some("read_file") => argument("path").and_then(|path| read(&cwd.join(path))),
        Some("run_command") => match argument("command") {
            Ok(command) => run_command(&command, cwd).await,
            Err(words) => Err(words),
        },
        name => Err(format!("there is no tool `{}`", name.unwrap_or_default())),
    };
    match done {
        Ok(text) => ToolResult::text(text).succeeded(),
        Err(words) => ToolResult::text(words).failed(),
    }
}

fn read(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = std::fs::File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(format!("{}: not a regular file", path.display()));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

async fn run_command(command: &str, cwd: &Path) -> Result<String, String> {
    let child = tokio::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("sh: {error}"))?;
    let done = tokio::time::timeout(MAX_TIME, child.wait_with_output()).await;
    let output =
        done.map_err(|_| format!("no end after {} s", MAX_TIME.as_secs()))?.map_err(|error| error.to_string())?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    match output.status.success() {
        true => Ok(text),
        false => Err(format!("{text}\n({})", output.status)),
    }
}
