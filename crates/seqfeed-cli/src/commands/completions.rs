//! `seqfeed completions`: scripts that complete commands and options in a shell.

use std::io::{self, Write};

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command};
use clap_complete::{Shell, generate};
use seqfeed_kaldi_tools::TOOLS;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  seqfeed completions bash > ~/.local/share/bash-completion/completions/seqfeed
  seqfeed completions zsh > ~/.zfunc/_seqfeed
  seqfeed completions fish > ~/.config/fish/completions/seqfeed.fish

zsh looks in the directories of fpath: `fpath+=~/.zfunc` before `compinit` in ~/.zshrc.")]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, program: Command) -> Result<()> {
    let mut program = program
        .mut_subcommands(|command| command.mut_args(with_choices))
        .mut_subcommand("kaldi", with_tools);
    let mut script = Vec::new();
    generate(arguments.shell, &mut program, "seqfeed", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(())
}

/// Literal words in the name of a value (`stop|skip|N`) become choices.
fn with_choices(argument: Arg) -> Arg {
    let [name] = argument.get_value_names().unwrap_or_default() else { return argument };
    let words = name.split('|').filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
    // clap keeps names for the whole run. This run ends after they are printed.
    let words: Vec<&'static str> = words.map(|word| &*word.to_owned().leak()).collect();
    match words.is_empty() {
        true => argument,
        false => argument.value_parser(PossibleValuesParser::new(words)),
    }
}

/// Kaldi's tools by name, each with any arguments.
fn with_tools(kaldi: Command) -> Command {
    let tools = TOOLS.iter().map(|tool| {
        let argument = Arg::new("argument").num_args(0..).trailing_var_arg(true);
        Command::new(tool.name).about(tool.summary).arg(argument)
    });
    kaldi.mut_arg("tool", |tool| tool.hide(true)).subcommands(tools)
}
