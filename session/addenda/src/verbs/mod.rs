//! The verbs, one file each.

mod delete;
mod fsck;
mod export;
mod import;
mod inspect;
mod instructions;
mod pack;
mod prompt_input;
mod repair;
mod salvage;
mod stats;

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
        Verb::Fsck(args) => fsck::run(args),
        Verb::Repair(args) => repair::run(args),
        Verb::Salvage(args) => salvage::run(args),
        Verb::Stats(args) => stats::run(args),
        Verb::Delete(args) => delete::run(args),
        Verb::Pack(args) => pack::pack(args),
        Verb::Unpack(args) => pack::unpack(args),
        Verb::Import(args) => import::run(args),
        Verb::Export(args) => export::run(args),
    }
}
