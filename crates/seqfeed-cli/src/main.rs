//! The program `seqfeed`.

mod commands;
mod options;
mod report;
mod terminal;

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
    /// Find everything that is wrong with a corpus, compare it with another, write a repaired copy
    Check(Box<commands::check::Arguments>),
    /// Print the description (corpus.toml) that means the same as a name with its options
    Describe(Box<commands::describe::Arguments>),
    /// Show sequences: their values, or pictures of them
    Show(Box<commands::show::Arguments>),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Check(arguments) => match commands::check::run(&arguments) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Describe(arguments) => commands::describe::run(&arguments),
        Command::Feed(arguments) => commands::feed::run(&arguments),
        Command::Info(arguments) => commands::info::run(&arguments),
        Command::Show(mut arguments) => commands::show::run(&mut arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report::failure(&error),
    }
}
