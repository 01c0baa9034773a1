//! `seqfeed check`: finds all errors in a corpus.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use indicatif::ProgressBar;
use seqfeed::io::{
    LeftBehind, Opener, name_from_text, path_from_text, remove_left_behind, shown_name,
};
use seqfeed::{Description, Severity, Source, Table, Value};
use seqfeed_convert::{Check, CheckOptions, Finding, Repair, compare};

use crate::options::{CorpusOptions, name};
use crate::progress;
use crate::report::{self, count, counted};
use crate::screen::{Screen, print_json};

#[derive(Args, Debug)]
#[command(
    after_help = "CORPUS may also be a directory in which killed runs have left unfinished files
(.seqfeed-*.part): those that nobody writes any more are removed.

Examples:
  seqfeed check corpus.toml
  seqfeed check scp:feats.scp --labels ark:ali.ark --classes 1943
  seqfeed check corpus.toml --against copy/corpus.toml --tolerance 1e-3
  seqfeed check corpus.toml --fix repaired"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    corpus: CorpusOptions,

    /// Compare with another corpus: keys, lengths, values
    #[arg(long, value_name = "CORPUS", value_parser = name())]
    against: Option<String>,

    /// With --against: values may differ by so much, relative to those above 1
    #[arg(long, value_name = "X", default_value_t = 0.0, requires = "against")]
    tolerance: f64,

    /// Write a repaired copy: without what is wrong, sorted, as tables of Kaldi with a description
    /// and a report
    #[arg(long, value_name = "DIR")]
    fix: Option<PathBuf>,

    /// With --fix: cut streams to the shortest one where lengths differ by no more than N samples
    #[arg(long, value_name = "N", default_value_t = 3)]
    trim: u32,

    /// Number of classes: labels must be below
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    classes: Option<i32>,

    /// Frames of context, for utterances that are too short for it
    #[arg(long, value_name = "L[:R]")]
    context: Option<String>,

    /// Findings of a kind that are printed; --json has all
    #[arg(long, value_name = "N", default_value_t = 10)]
    most: usize,

    /// Threads that read values [default: one a core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let opener = arguments.corpus.opener();
    let is_directory = |path: &PathBuf| opener.is_directory(&path.as_path().into());
    let directory = arguments.corpus.only_name().map(path_from_text).filter(is_directory);
    if let Some(directory) = directory
        && arguments.against.is_none()
        && arguments.fix.is_none()
    {
        let found = remove_left_behind(&directory)?;
        // Without any, the directory was given as a corpus: a data directory of Kaldi's.
        if found != LeftBehind::default() {
            write_left_behind(&found, arguments.json)?;
            return Ok(ExitCode::SUCCESS);
        }
    }
    let context = arguments.context.iter().cloned().map(Value::String);
    let context = context.map(|context| ("context".to_owned(), context));
    let description = arguments.corpus.describe_with(context.collect())?;
    let mut options = CheckOptions::default();
    (options.classes, options.trim) = (arguments.classes, arguments.trim);
    (options.threads, options.opener) = (arguments.threads, opener.clone());
    let bar = progress::bar(0, "samples");
    let mut check =
        Check::of(&description, &options, |total| bar.set_length(total), |n| bar.inc(n))?;
    bar.finish_and_clear();
    if let Some(other) = &arguments.against {
        let found = against(arguments, description.clone(), other, &opener)?;
        check.extend(found);
    }
    let repair = match &arguments.fix {
        Some(directory) => {
            // The settings that a reader or a data specification implies, if it can be opened.
            let whole =
                match description.corpus.reader.is_some() || description.corpus.data.is_some() {
                    true => description
                        .open(&opener)
                        .and_then(|opened| description.explicit(&opened, &opener)),
                    false => Ok(description.clone()),
                };
            Some(check.repair(whole.as_ref().unwrap_or(&description), directory)?)
        }
        None => None,
    };
    if arguments.json {
        let json = serde_json::json!({
            "summary": check.summary(),
            "findings": check.findings(),
            "repair": &repair,
        });
        print_json(&json)?;
    } else {
        let mut out = Screen::text();
        write_text(&mut out, &check, arguments.most)?;
        if let (Some(repair), Some(directory)) = (&repair, &arguments.fix) {
            write_repair(&mut out, repair, &shown_name(directory))?;
        }
        out.flush()?;
    }
    Ok(if check.summary().errors > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Prints the files that killed runs have left in a directory.
fn write_left_behind(found: &LeftBehind, json: bool) -> Result<()> {
    let names = |paths: &[PathBuf]| -> Vec<String> { paths.iter().map(shown_name).collect() };
    let (removed, kept) = (names(&found.removed), names(&found.kept));
    if json {
        return print_json(&serde_json::json!({ "removed": removed, "kept": kept }));
    }
    let mut out = Screen::text();
    for name in &removed {
        writeln!(out, "removed      {name} (a run that was killed has left it)")?;
    }
    for name in &kept {
        writeln!(out, "kept         {name} (it is being written, or cannot be removed)")?;
    }
    Ok(out.flush()?)
}

/// Compares the data that both corpora can deliver.
fn against(
    arguments: &Arguments,
    mut description: Description,
    other: &str,
    opener: &Opener,
) -> Result<Vec<Finding>> {
    let named = Description::of_name_with(&name_from_text(other), Table::new(), opener)?;
    named.warnings.iter().for_each(|warning| report::warning(warning));
    let mut theirs = named.description;
    for description in [&mut description, &mut theirs] {
        if description.corpus.reader.is_none() {
            description.skip_errors();
        }
    }
    let (ours, theirs) = (description.open(opener)?, theirs.open(opener)?);
    let bar: ProgressBar = progress::bar(ours.corpus().index().total_samples(), "samples compared");
    let (one, other) = (ours.corpus().as_ref(), theirs.corpus().as_ref());
    let found = compare(one, other, arguments.tolerance, arguments.threads, |done| bar.inc(done))?;
    bar.finish_and_clear();
    Ok(found)
}

/// Prints the worst findings first, and only some of each kind.
fn write_text(out: &mut Screen, check: &Check, most: usize) -> io::Result<()> {
    let mut kinds: BTreeMap<(std::cmp::Reverse<Severity>, &str), Vec<&Finding>> = BTreeMap::new();
    for finding in check.findings() {
        let kind = (std::cmp::Reverse(finding.severity), finding.kind);
        kinds.entry(kind).or_default().push(finding);
    }
    for ((_, kind), findings) in &kinds {
        for finding in findings.iter().take(most) {
            write_finding(out, finding)?;
        }
        if findings.len() > most {
            let left = count((findings.len() - most) as u64);
            writeln!(out, "... and {left} more of {kind} (--most N, or --json for all)\n")?;
        }
    }
    let summary = check.summary();
    writeln!(
        out,
        "checked {} of {}: {}, {}, {}",
        counted(summary.sequences, "sequence"),
        counted(summary.samples, "sample"),
        counted(summary.errors, "error"),
        counted(summary.warnings, "warning"),
        counted(summary.notes, "note")
    )
}

fn write_finding(out: &mut Screen, finding: &Finding) -> io::Result<()> {
    let color = match finding.severity {
        Severity::Error => "1;31",
        Severity::Warning => "1;33",
        Severity::Note => "1;36",
    };
    out.paint(&format!("{}[{}]", finding.severity, finding.kind), color)?;
    writeln!(out, ": {}", finding.message)?;
    let of = |what: &str, text: &Option<String>| text.as_ref().map(|text| format!("{what}{text}"));
    let parts = [of("", &finding.place), of("key ", &finding.key), of("stream ", &finding.stream)];
    let place: Vec<String> = parts.into_iter().flatten().collect();
    if !place.is_empty() {
        write!(out, "  ")?;
        out.paint("-->", "1;34")?;
        writeln!(out, " {}", place.join(", "))?;
    }
    if let Some(cure) = &finding.cure {
        write!(out, "  ")?;
        out.paint("help", "1;36")?;
        writeln!(out, ": {cure}")?;
    }
    writeln!(out)
}

fn write_repair(out: &mut impl Write, repair: &Repair, directory: &str) -> io::Result<()> {
    writeln!(
        out,
        "wrote {} of {} to {directory} (corpus.toml, report.json)",
        counted(repair.sequences, "sequence"),
        counted(repair.samples, "sample")
    )?;
    for (reason, keys) in &repair.left_out {
        writeln!(out, "left out     {} ({reason})", counted(keys.len() as u64, "sequence"))?;
    }
    if !repair.trimmed.is_empty() {
        writeln!(out, "cut          {}", counted(repair.trimmed.len() as u64, "sequence"))?;
    }
    Ok(())
}
