//! `seqfeed kaldi`: Kaldi's tools, also by links with their names.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use anyhow::{Context, Result, bail};
use clap::Args;
use seqfeed::io::{Opener, name_to_text, shown_name};
use seqfeed::{Error, nearest_name};
use seqfeed_kaldi_tools::{Surroundings, TOOLS, Tool, find};

#[derive(Args, Debug)]
#[command(
    arg_required_else_help = true,
    override_usage = "seqfeed kaldi TOOL [ARGUMENT]...\n       seqfeed kaldi --list\n       seqfeed kaldi --install DIR",
    after_help = "Examples:\n  seqfeed kaldi copy-feats --compress scp:feats.scp ark,scp:small.ark,small.scp\n  \
                  seqfeed kaldi feat-to-len scp:feats.scp ark,t:-\n  \
                  seqfeed kaldi copy-feats --help\n  \
                  seqfeed kaldi --install ~/bin && copy-feats ark:feats.ark ark,t:-"
)]
pub(crate) struct Arguments {
    /// List the tools
    #[arg(long, conflicts_with_all = ["install", "tool"])]
    list: bool,

    /// Make a link to this program for each tool, by its name, in this directory
    #[arg(long, value_name = "DIR", conflicts_with = "tool")]
    install: Option<PathBuf>,

    /// The tool and its arguments, as in Kaldi; commands (`gunzip -c x.gz |`) are run
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "TOOL")]
    tool: Vec<OsString>,
}

/// Runs a tool if the program was called by a link with its name.
pub(crate) fn called_as_tool() -> Option<ExitCode> {
    let mut words = env::args_os();
    let program = words.next()?;
    let tool = find(Path::new(&program).file_name()?.to_str()?)?;
    Some(call(tool, &shown_name(&program), words))
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let Some(directory) = &arguments.install {
        install(directory)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some((name, words)) = arguments.tool.split_first() else {
        let mut out = io::stdout().lock();
        for tool in TOOLS {
            writeln!(out, "{:<26} {}", tool.name, tool.summary)?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let name = name_to_text(name);
    let Some(tool) = find(&name) else {
        let near = nearest_name(&name, TOOLS.iter().map(|tool| tool.name));
        let error = Error::usage(format!("there is no tool `{name}`"));
        bail!(match near {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error.with_help("`seqfeed kaldi --list` lists the tools"),
        });
    };
    Ok(call(tool, tool.name, words.iter().cloned()))
}

fn call(tool: &Tool, program: &str, words: impl Iterator<Item = OsString>) -> ExitCode {
    let (mut out, mut log) = (io::stdout().lock(), io::stderr());
    let words: Vec<String> = words.map(name_to_text).collect();
    let opener = Opener::with_pipes();
    let code = tool.run(program, &words, Surroundings { opener, out: &mut out, log: &mut log });
    ExitCode::from(code)
}

/// Makes the links, and prints a summary. Files that are not links to this program stay.
fn install(directory: &Path) -> Result<()> {
    let program = env::current_exe().context("finding this program")?;
    fs::create_dir_all(directory)
        .with_context(|| format!("making the directory {}", shown_name(directory)))?;
    let (mut made, mut there) = (0, 0);
    let mut taken = Vec::new();
    for tool in TOOLS {
        let link = directory.join(tool.name);
        match symlink(&program, &link) {
            Ok(()) => made += 1,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match fs::read_link(&link).is_ok_and(|target| target == program) {
                    true => there += 1,
                    false => taken.push(tool.name),
                }
            }
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("making the link {}", shown_name(&link)));
            }
        }
    }
    let mut out = io::stdout().lock();
    write!(out, "{made} links made in {}", shown_name(directory))?;
    if there > 0 {
        write!(out, ", {there} were there")?;
    }
    writeln!(out)?;
    if !taken.is_empty() {
        return Err(Error::corpus(format!(
            "in {} there are other files by the names of {}",
            shown_name(directory),
            taken.join(", ")
        ))
        .with_help("remove them, or choose a directory that comes before Kaldi's in PATH")
        .into());
    }
    Ok(())
}
