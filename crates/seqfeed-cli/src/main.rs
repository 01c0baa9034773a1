//! The program `seqfeed`.

mod commands;
mod options;
mod report;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// One engine for three decades of sequence-model training data.
#[derive(Parser)]
#[command(name = "seqfeed", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Feed a corpus: join its streams, shuffle, splice, batch; print throughput or the minibatches
    Feed(Box<commands::feed::Arguments>),
    /// Say what a corpus holds
    Info(Box<commands::info::Arguments>),
    /// One of Kaldi's tools by its own name: same options, output, log lines and exit codes
    Kaldi(commands::kaldi::Arguments),
}

fn main() -> ExitCode {
    if let Some(code) = commands::kaldi::called_as_tool() {
        return code;
    }
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Feed(arguments) => commands::feed::run(&arguments),
        Command::Info(arguments) => commands::info::run(&arguments),
        Command::Kaldi(arguments) => match commands::kaldi::run(&arguments) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report::failure(&error),
    }
}
