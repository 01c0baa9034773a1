//! `seqfeed copy`: copies a table of Kaldi's.

use std::collections::HashSet;
use std::os::unix::ffi::OsStringExt;

use anyhow::Result;
use clap::Args;
use seqfeed::io::{Input, InputFiles, Opener, RxFilename, name_from_text};
use seqfeed::kaldi::ObjectType;
use seqfeed::{Key, kaldi_compression};
use seqfeed_convert::{CopyOptions, copy_table};

use crate::options::name;
use crate::report::{self, bytes, counted};
use crate::{options, progress};

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The table that is read, such as scp:feats.scp
    #[arg(value_name = "RSPECIFIER", value_parser = name())]
    from: String,

    /// The table that is written, such as ark,scp:copy.ark,copy.scp
    #[arg(value_name = "WSPECIFIER", value_parser = name())]
    to: String,

    /// Type of the objects, such as float-matrix or int32-vector [default: told from the data]
    #[arg(long = "type", value_name = "TYPE")]
    object_type: Option<ObjectType>,

    /// Compress matrices by one of Kaldi's methods, 1 to 7, or auto
    #[arg(long, value_name = "METHOD", num_args = 0..=1, default_missing_value = "auto", require_equals = true)]
    compress: Option<String>,

    /// Write text
    #[arg(long)]
    text: bool,

    /// Copy objects with these keys only: KEY,KEY,... or @FILE, of whose lines the first
    /// words are keys
    #[arg(long, value_name = "KEYS", value_parser = name())]
    select: Option<String>,

    /// Do not copy objects with these keys
    #[arg(long, value_name = "KEYS", value_parser = name())]
    exclude: Option<String>,

    /// Copy in ascending order of keys
    #[arg(long)]
    sort: bool,

    /// Copy no more than the first N objects
    #[arg(long, value_name = "N")]
    head: Option<u64>,

    /// Write N tables, with equally many objects each: JOB in the WSPECIFIER becomes 1 to N
    #[arg(long, value_name = "N")]
    split: Option<usize>,

    /// Allow commands (`cmd |`) also in names that stand in script files; names on the command line
    /// may be commands anyway
    #[arg(long)]
    allow_pipes: bool,
}

const EXAMPLES: &str = "\
Examples:
  seqfeed copy scp:feats.scp ark,t:-
  seqfeed copy ark:feats.ark ark,scp:small.ark,small.scp --compress=2 --sort
  seqfeed copy scp:feats.scp ark:some.ark --select @utterances.txt
  seqfeed copy scp:feats.scp ark,scp:split/feats.JOB.ark,split/feats.JOB.scp --split 8";

/// The number of missing keys to name.
const NAMED: usize = 5;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let opener = options::opener(arguments.allow_pipes);
    let mut options = CopyOptions::default();
    options.inputs = InputFiles::record();
    options.object_type = arguments.object_type;
    options.compress = arguments.compress.as_deref().map(kaldi_compression).transpose()?;
    options.text = arguments.text;
    options.select = arguments.select.as_deref().map(|text| keys(text, &opener)).transpose()?;
    options.exclude = arguments
        .exclude
        .as_deref()
        .map(|text| keys(text, &opener))
        .transpose()?
        .unwrap_or_default();
    options.sort = arguments.sort;
    options.head = arguments.head;
    options.split = arguments.split;
    options.opener = opener;
    let (from, to) = (name_from_text(&arguments.from), name_from_text(&arguments.to));
    let bar = progress::spinner("objects");
    let copied = copy_table(&from, &to, &options, &mut || bar.inc(1));
    bar.finish_and_clear();
    let copied = copied?;
    if !copied.missing.is_empty() {
        let named: Vec<String> =
            copied.missing.iter().take(NAMED).map(|key| Key(key).to_string()).collect();
        let more = if copied.missing.len() > NAMED { ", ..." } else { "" };
        let missing = counted(copied.missing.len() as u64, "key");
        report::warning(&format!("{missing} not found: {}{more}", named.join(", ")));
    }
    if let Some(found) = &copied.table_type
        && let Some(taken) = found.object_type
        && (found.mixed || !found.others.is_empty())
    {
        let others: Vec<&str> = found.others.iter().map(|other| other.name()).collect();
        let more = match others.is_empty() {
            true => String::new(),
            false => format!(", but may be {} (--type says which)", others.join(", ")),
        };
        report::note(&format!("the objects were taken for those of type {taken}{more}"));
    }
    if copied.skipped > 0 {
        let more = if copied.skipped > copied.damage.len() as u64 { "\n  ..." } else { "" };
        let said: String = copied.damage.iter().map(|one| format!("\n  {one}")).collect();
        let objects = counted(copied.skipped, "object");
        report::warning(&format!("{objects} could not be read{said}{more}"));
    }
    let written = copied.written;
    let mut text =
        format!("copied {}, {}", counted(written.objects, "object"), bytes(written.bytes as f64));
    if written.skipped > 0 {
        let skipped = counted(written.skipped, "object");
        report::warning(&format!(
            "{skipped} not written, as the script file has no name for the key"
        ));
    }
    if copied.left_out > 0 {
        text += &format!("; {} left out", counted(copied.left_out, "object"));
    }
    report::note(&text);
    Ok(())
}

/// Keys from a list, or from a file.
fn keys(text: &str, opener: &Opener) -> Result<HashSet<Vec<u8>>> {
    let Some(file) = text.strip_prefix('@') else {
        let keys = text.split(',').filter(|key| !key.is_empty());
        return Ok(keys.map(|key| name_from_text(key).into_vec()).collect());
    };
    let mut input = Input::open(&RxFilename::parse(&name_from_text(file))?, opener)?;
    let mut keys = HashSet::new();
    let mut line = Vec::new();
    while input.next_line(&mut line)? {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        keys.extend(words.next().map(<[u8]>::to_vec));
    }
    input.finish()?;
    Ok(keys)
}
