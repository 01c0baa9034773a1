//! The program `seqfeed`.

mod commands;
mod json;
mod kaldi_object;
mod options;
mod progress;
mod report;
mod screen;
mod signals;
mod terminal;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// One engine for three decades of sequence-model training data.
#[derive(Parser)]
#[command(name = "seqfeed", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  seqfeed info scp:feats.scp
  seqfeed check corpus.toml
  seqfeed convert corpus.toml out.pfile --allow-lossy
  seqfeed feed corpus.toml --context 5 --batch-size 1024
  seqfeed feed --help

`seqfeed COMMAND --help` explains a command, with examples.";

#[derive(Subcommand)]
enum Command {
    /// Feed a corpus: join its streams, shuffle, splice, batch; print throughput or the minibatches
    Feed(Box<commands::feed::Arguments>),
    /// Convert a corpus to another format; says what would be lost before it is
    Convert(Box<commands::convert::Arguments>),
    /// Say what the minibatches of a feed will be, without loading any
    Plan(Box<commands::plan::Arguments>),
    /// Copy a table of Kaldi's, whatever it holds
    Copy(Box<commands::copy::Arguments>),
    /// Say what a corpus holds
    Info(Box<commands::info::Arguments>),
    /// Show sequences: their values, or pictures of them
    Show(Box<commands::show::Arguments>),
    /// Find everything that is wrong with a corpus, compare it with another, write a repaired copy
    Check(Box<commands::check::Arguments>),
    /// Print the description (corpus.toml) that means the same as a name with its options
    Describe(Box<commands::describe::Arguments>),
    /// One of Kaldi's tools by its own name: same options, output, log lines and exit codes
    Kaldi(commands::kaldi::Arguments),
    /// Print what a shell needs to complete commands, options and names
    Completions(commands::completions::Arguments),
    /// Write man pages: one for the program, one for each command
    Manual(commands::manual::Arguments),
}

fn main() -> ExitCode {
    seqfeed::panics::silence_caught_panics();
    signals::watch();
    if let Some(code) = commands::kaldi::called_as_tool() {
        return code;
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => error.exit(),
        Err(help) => return report::printed(help.print()),
    };
    let done = match arguments.command {
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Completions(arguments) => {
            commands::completions::run(&arguments, Arguments::command()).map(success)
        }
        Command::Plan(arguments) => commands::plan::run(&arguments).map(success),
        Command::Describe(arguments) => commands::describe::run(&arguments).map(success),
        Command::Feed(arguments) => commands::feed::run(&arguments).map(success),
        Command::Info(arguments) => commands::info::run(&arguments).map(success),
        Command::Kaldi(arguments) => commands::kaldi::run(&arguments),
        Command::Manual(arguments) => {
            commands::manual::run(&arguments, Arguments::command()).map(success)
        }
        Command::Show(mut arguments) => commands::show::run(&mut arguments).map(success),
        Command::Convert(arguments) => commands::convert::run(&arguments).map(success),
        Command::Copy(arguments) => commands::copy::run(&arguments).map(success),
    };
    done.unwrap_or_else(|error| report::failure(&error))
}

fn success(_: ()) -> ExitCode {
    ExitCode::SUCCESS
}
