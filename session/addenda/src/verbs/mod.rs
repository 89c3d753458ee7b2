//! The verbs, one file each.

mod export;
mod import;
mod inspect;
mod instructions;
mod prompt_input;

use crate::{
    args::{Command, Verb},
    exit::{Answer, Failure},
};

/// Does what the command line asks for.
pub(crate) fn run(command: &Command) -> Result<Answer, Failure> {
    match &command.verb {
        Verb::PromptInput(args) => prompt_input::run(args),
        Verb::Instructions(args) => instructions::run(args),
        Verb::Inspect(args) => inspect::run(args),
        Verb::Import(args) => import::run(args),
        Verb::Export(args) => export::run(args),
    }
}
