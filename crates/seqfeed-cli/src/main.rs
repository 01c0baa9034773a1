//! The program `seqfeed`.

mod commands;
mod options;
mod progress;
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
    /// Convert a corpus to another format; says what would be lost before it is
    Convert(Box<commands::convert::Arguments>),
    /// Copy a table of Kaldi's, whatever it holds
    Copy(Box<commands::copy::Arguments>),
    /// Say what a corpus holds
    Info(Box<commands::info::Arguments>),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Feed(arguments) => commands::feed::run(&arguments),
        Command::Convert(arguments) => commands::convert::run(&arguments),
        Command::Copy(arguments) => commands::copy::run(&arguments),
        Command::Info(arguments) => commands::info::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report::failure(&error),
    }
}
