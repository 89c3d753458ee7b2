//! The command line.

use std::{env, ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum, builder::NonEmptyStringValueParser, error::ErrorKind};
use context_fragments::{ApprovalPolicy, SandboxMode};
use jiff::civil::Date;

use crate::{exit::Failure, output};

/// Shows what a language-model agent would be sent from here, and why.
#[derive(Debug, Parser)]
#[command(name = "addenda", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Command {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Prints the input items that a model would be sent, here and now, as a JSON array.
    PromptInput(Box<PromptInput>),
    /// Says which instruction files apply, and for every path that was looked at why or why not.
    Instructions(Instructions),
    /// Says what a log holds, turn by turn, and whether each prompt extends the one before.
    Inspect(Inspect),
    /// Checks a log and its blobs, line by line.
    Fsck(OneLog),
    /// Makes a sound log out of a damaged one, in another folder; the old one stays as it is.
    Repair(Repair),
    /// Writes whatever can be read in a log into a file, one JSON object on each line.
    Salvage(Salvage),
    /// Says which kind of record holds the bytes of a log.
    Stats(OneLog),
    /// Deletes a session: its log, its blobs and its folder.
    Delete(Delete),
    /// Packs the log of a session that is not used any more with zstd; it is compared before the plain one goes.
    Pack(OneFolder),
    /// Puts a packed log back, so that the session can be gone on with.
    Unpack(OneFolder),
    /// Makes a session of a rollout of the OpenAI Codex CLI, and says what could not be taken along.
    Import(Import),
    /// Prints a session as a rollout of the OpenAI Codex CLI.
    Export(Export),
}

#[derive(Debug, Args)]
pub(crate) struct OneLog {
    /// A log of this project (or its folder), or a rollout of the OpenAI Codex CLI, plain or packed with zstd.
    pub(crate) log: PathBuf,
    /// Prints everything as JSON instead of words.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OneFolder {
    /// The folder of the session.
    pub(crate) folder: PathBuf,
    /// Says what was done as JSON instead of words.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Repair {
    /// A log of this project, or its folder.
    pub(crate) log: PathBuf,
    /// The folder of the new log, which must not hold one yet.
    pub(crate) to: PathBuf,
    /// Takes records that someone edited as they stand.
    #[arg(long)]
    pub(crate) keep_edited: bool,
    /// Prints everything as JSON instead of words.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Salvage {
    /// A log of this project (or its folder), or a rollout of the OpenAI Codex CLI, plain or packed with zstd.
    pub(crate) log: PathBuf,
    /// The file to write, which must not be there yet.
    pub(crate) to: PathBuf,
    /// Says what was found as JSON instead of words.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The folder of the session.
    pub(crate) folder: PathBuf,
    /// Really does it.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Says what was done as JSON instead of words.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PromptInput {
    /// What the user asks for; without it, only the context is printed.
    pub(crate) prompt: Option<String>,
    /// The folder that the agent works in [default: the current one].
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: Rules,
    /// The model that would be asked; nothing is said of it until it changes.
    #[arg(long, value_name = "M", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// The date that the model is told [default: today in the time zone].
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    pub(crate) date: Option<Date>,
    /// The time zone that the model is told, by its IANA name [default: that of the system].
    #[arg(long, value_name = "TZ")]
    pub(crate) timezone: Option<String>,
    /// The shell that the model is told [default: the name of $SHELL].
    #[arg(long, value_name = "S", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) shell: Option<String>,
    /// How far tools may reach: read-only, workspace-write or danger-full-access.
    #[arg(long, value_name = "MODE", default_value = "workspace-write")]
    pub(crate) sandbox: SandboxMode,
    /// When the user is asked before a command: untrusted, on-failure, on-request or never.
    #[arg(long, value_name = "P", default_value = "on-request")]
    pub(crate) approval: ApprovalPolicy,
    /// Tools may use the network.
    #[arg(long)]
    pub(crate) network: bool,
    /// A command prefix that was approved for good, its words between blanks; may be given several times.
    #[arg(long, value_name = "WORDS", value_parser = parse_prefix)]
    pub(crate) approved_prefix: Vec<Prefix>,
    /// The collaboration mode, and the file that holds its instructions.
    #[arg(long, value_name = "NAME[=FILE]", value_parser = parse_mode)]
    pub(crate) mode: Option<Mode>,
    /// Another environment, by its id and the folder that work starts in there; may be given several times. The current
    /// folder is `local`, and its instruction files are the ones that count.
    #[arg(long = "env", value_name = "ID=DIR", value_parser = parse_environment)]
    pub(crate) environments: Vec<NamedFolder>,
    /// Prints only what changed since a state that `--save-state` wrote.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) since: Option<PathBuf>,
    /// Writes the state that the model is told, and the kinds of context that it then holds, into a file.
    #[arg(long, value_name = "FILE")]
    pub(crate) save_state: Option<PathBuf>,
    /// Prints the exact bytes that would be sent instead of indented JSON.
    #[arg(long)]
    pub(crate) wire: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Instructions {
    /// The folder, or a file in it [default: the current folder].
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: Rules,
    /// Prints everything as JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Prints only what should be mended, and ends with status 1 if a file is cut, hidden, unreadable or duplicated.
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// A log of this project (or its folder), or a rollout of the OpenAI Codex CLI; which of them is found out.
    pub(crate) rollout: PathBuf,
    /// Prints everything as JSON instead of words.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The rollout, of any version.
    pub(crate) rollout: PathBuf,
    /// The folder of the new session; it is made.
    pub(crate) folder: PathBuf,
    /// The id of the new session [default: that of the rollout].
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The folder of the session.
    pub(crate) session: PathBuf,
    /// Writes a new file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What decides which instruction files apply.
#[derive(Debug, Args)]
pub(crate) struct Rules {
    /// The folder of the global AGENTS.md [default: $CODEX_HOME, then ~/.codex].
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Treats the project as untrusted: none of its files is looked at.
    #[arg(long)]
    pub(crate) untrusted: bool,
    /// Whose behaviour is followed.
    #[arg(long, value_enum, value_name = "PRESET", default_value_t = Preset::Default)]
    pub(crate) preset: Preset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// The mended rules of this project.
    Default,
    /// Those of the OpenAI Codex CLI, warts included.
    Codex,
}

/// What the command line asks for.
pub(crate) enum Invocation {
    Run(Box<Command>),
    /// Help, or the version.
    Print(String),
}

/// Reads the command line of this process.
pub(crate) fn read() -> Result<Invocation, Failure> {
    let given: Vec<OsString> = env::args_os().collect();
    match Command::try_parse_from(&given) {
        Ok(command) => Ok(Invocation::Run(Box::new(command))),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Invocation::Print(error.to_string())),
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
                Err(Failure::new("no verb given, try `addenda --help`"))
            }
            ErrorKind::InvalidUtf8 => Err(Failure::new(not_utf8(&given))),
            _ => {
                // The message holds the argument as it was given. Spelled out, no line feed in it ends a paragraph.
                let spelled = given.iter().map(|argument| output::one_line(&argument.to_string_lossy()));
                let error = Command::try_parse_from(spelled).err().unwrap_or(error);
                Err(Failure::new(first_paragraph(&error.to_string())))
            }
        },
    }
}

/// The part of clap's message that says what is wrong, as one line.
fn first_paragraph(message: &str) -> String {
    let lines = message.lines().map(str::trim).take_while(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

/// Names the arguments that are not UTF-8; paths may be, so these are others.
fn not_utf8(given: &[OsString]) -> String {
    let named: Vec<_> = given
        .iter()
        .filter(|argument| argument.to_str().is_none())
        .map(|argument| format!("'{}'", argument.to_string_lossy()))
        .collect();
    format!("invalid UTF-8 in {}", named.join(" or "))
}

/// The words that an approved command starts with.
#[derive(Clone, Debug)]
pub(crate) struct Prefix(pub(crate) Vec<String>);

/// A collaboration mode and the file of its instructions.
#[derive(Clone, Debug)]
pub(crate) struct Mode {
    pub(crate) name: String,
    pub(crate) file: Option<PathBuf>,
}

/// An environment by its id and folder.
#[derive(Clone, Debug)]
pub(crate) struct NamedFolder {
    pub(crate) id: String,
    pub(crate) folder: String,
}

fn parse_prefix(text: &str) -> Result<Prefix, String> {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() { Err("no words".to_owned()) } else { Ok(Prefix(words)) }
}

fn parse_mode(text: &str) -> Result<Mode, String> {
    let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
    if name.is_empty() || file == Some("") {
        return Err("not written NAME or NAME=FILE".to_owned());
    }
    Ok(Mode { name: name.to_owned(), file: file.map(PathBuf::from) })
}

fn parse_environment(text: &str) -> Result<NamedFolder, String> {
    match text.split_once('=') {
        Some((id, folder)) if !id.is_empty() && !folder.is_empty() => {
            Ok(NamedFolder { id: id.to_owned(), folder: folder.to_owned() })
        }
        _ => Err("not written ID=DIR".to_owned()),
    }
}

fn parse_date(text: &str) -> Result<Date, String> {
    let is_day = text.len() == "YYYY-MM-DD".len();
    text.parse().ok().filter(|_| is_day).ok_or_else(|| "not a day of the calendar, written YYYY-MM-DD".to_owned())
}
