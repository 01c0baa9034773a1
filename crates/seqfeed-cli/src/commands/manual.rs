//! `seqfeed manual`: writes man pages.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Command, ValueHint};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use seqfeed::io::{shown_name, write_atomically};
use seqfeed_kaldi_tools::TOOLS;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  seqfeed manual ~/.local/share/man/man1

Then `man seqfeed-feed` is the page of `seqfeed feed`.")]
pub(crate) struct Arguments {
    /// Where the pages are written, seqfeed.1 and seqfeed-COMMAND.1; made if it is not there
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, mut program: Command) -> Result<()> {
    // These pages replace the output of `seqfeed help`.
    program = program.disable_help_subcommand(true);
    program.build();
    let directory = &arguments.directory;
    fs::create_dir_all(directory)
        .with_context(|| format!("making the directory {}", shown_name(directory)))?;
    write(directory, "seqfeed", &program)?;
    let mut pages = 1;
    for command in program.get_subcommands() {
        write(directory, &format!("seqfeed-{}", command.get_name()), command)?;
        pages += 1;
    }
    writeln!(io::stdout().lock(), "{pages} pages written in {}", shown_name(directory))?;
    Ok(())
}

fn write(directory: &Path, name: &str, command: &Command) -> Result<()> {
    write_atomically(&directory.join(format!("{name}.1")), &page(name, command)?, false)?;
    Ok(())
}

/// A page: name, usage, description, options, and examples.
fn page(name: &str, command: &Command) -> io::Result<Vec<u8>> {
    // One line, as in --help: nobody reads fifty options in square brackets.
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim().to_owned();
    let version = concat!("seqfeed ", env!("CARGO_PKG_VERSION"));
    let shown = command.clone().override_usage(usage).display_name(name);
    let man = Man::new(shown).title(name.to_uppercase()).source(version).manual("seqfeed");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut rest = Roff::new();
    if command.get_name() == "kaldi" {
        rest.control("SH", ["TOOLS"]);
        for tool in TOOLS {
            rest.control("TP", []);
            rest.text([bold(tool.name)]);
            rest.text([roman(tool.summary)]);
        }
    }
    if let Some(examples) = command.get_after_help() {
        examples_section(&mut rest, &examples.to_string());
    }
    rest.control("SH", ["EXIT STATUS"]);
    rest.text([roman(match command.get_name() {
        "kaldi" => {
            "Kaldi's: 0: done; 1: wrong number of arguments, or nothing done; 255: an error."
        }
        _ => "0: done; 1: the data or the work failed; 2: wrong usage.",
    })]);
    rest.control("SH", ["SEE ALSO"]);
    rest.text([bold(if name == "seqfeed" { "seqfeed-feed" } else { "seqfeed" }), roman("(1)")]);
    rest.to_writer(&mut page)?;
    Ok(page)
}

/// The text after the options in --help: examples, line by line, and text.
fn examples_section(page: &mut Roff, text: &str) {
    page.control("SH", ["EXAMPLES"]);
    let (examples, remark) = text.split_once("\n\n").unwrap_or((text, ""));
    page.control("nf", []);
    for example in examples.lines().filter(|line| *line != "Examples:") {
        page.text([roman(example.trim())]);
    }
    page.control("fi", []);
    if !remark.is_empty() {
        page.control("PP", []);
        page.text([roman(remark)]);
    }
}
