#![doc = include_str!("../README.md")]

mod args;
mod discovered;
mod exit;
mod output;
mod progress;
mod saved;
mod surroundings;
mod verbs;

use std::process::ExitCode;

use self::{args::Invocation, exit::Failure};

fn main() -> ExitCode {
    match run() {
        Ok(answer) => answer.into(),
        Err(failure) => failure.report(),
    }
}

fn run() -> Result<exit::Answer, Failure> {
    match args::read()? {
        Invocation::Run(args) => verbs::run(&args),
        Invocation::Print(text) => output::print(&text),
    }
}
