//! The options that describe a corpus and its feed: flags, made from the table of options.

use anyhow::Result;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use seqfeed::io::{Opener, name_from_text, name_to_text};
use seqfeed::{
    CorpusOption, Description, Error, Opened, OptionScope, OptionValues, Table, Value, options,
};

use crate::kaldi_object::KaldiObject;
use crate::report;

/// Names are bytes. The arguments hold them as text from which the bytes can be restored.
pub(crate) fn name() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(name_to_text)
}

/// The options for the data of the corpus.
#[derive(Clone, Debug)]
pub(crate) struct CorpusOptions {
    name: Option<String>,
    /// The options that were given.
    given: Table,
    allow_pipes: bool,
}

/// The options for the feed.
#[derive(Clone, Debug)]
pub(crate) struct FeedOptions(Table);

const CORPUS: &str = "A description (corpus.toml), an rspecifier of features (scp:feats.scp), an \
    HTK script (feats.scp), a reader of CNTK (train.cntk#reader, reader.json), a CTF file, or a \
    data specification of PDNN (train.pfile,context=5,random=True), whose options may stand behind \
    any other name too; an Arrow or Parquet file (train.arrow, train.parquet), or a column of one \
    (train.parquet#features); a data directory of Kaldi (data/train), or a \
    manifest (data.list, cuts.jsonl.gz)";
const OVERRIDE: &str = "With a reader of CNTK's configurations: the value of a variable or a \
    setting, as on CNTK's command line (`ScpDir=/data`, `Train.reader.randomize=none`)";
const ALLOW_PIPES: &str = "Allow commands (`cmd |`) also in names that stand in files, such as \
    script files and descriptions; names on the command line may be commands anyway";

/// The opener for all commands. Names on the command line may be commands; names in files may be so
/// only if the user allows it.
pub(crate) fn opener(allow_pipes: bool) -> Opener {
    if allow_pipes { Opener::with_pipes() } else { Opener::with_given_pipes() }
}

/// The options that are flags of all commands, or of commands that feed. The name of a corpus is an
/// argument of its own.
fn flags(scope: OptionScope) -> impl Iterator<Item = CorpusOption> {
    let named = ["reader", "data", "corpus"];
    let all = options().into_iter();
    all.filter(move |option| option.scope == scope && !named.contains(&option.name))
}

/// The flag of an option.
pub(crate) fn flag(option: &CorpusOption) -> Arg {
    let mut help = option.doc.trim().trim_end_matches('.').to_owned();
    let arg = Arg::new(option.name).long(option.name);
    if option.values == OptionValues::Flag && option.value_name.is_empty() {
        return arg.help(help).action(ArgAction::SetTrue);
    }
    if !option.default.is_empty() {
        help += &format!(" [default: {}]", option.default);
    }
    if matches!(option.section, "cntk" | "pdnn") {
        help += &format!(" [preset: {}]", option.section);
    }
    let arg = arg.help(help).value_name(option.value_name);
    match option.values {
        OptionValues::Flag => arg.value_parser(clap::value_parser!(bool)),
        OptionValues::Unsigned => arg.value_parser(clap::value_parser!(u64)),
        OptionValues::Integer => {
            arg.value_parser(clap::value_parser!(i64)).allow_negative_numbers(true)
        }
        OptionValues::Real => {
            arg.value_parser(clap::value_parser!(f64)).allow_negative_numbers(true)
        }
        OptionValues::Names => arg.value_parser(name()).action(ArgAction::Append),
        OptionValues::Transforms => arg.action(ArgAction::Append),
        OptionValues::Name => arg.value_parser(name()),
        OptionValues::Words(words) => arg.value_parser(PossibleValuesParser::new(words)),
        // Labels may be negative.
        _ => arg.allow_hyphen_values(matches!(option.key, "ignore" | "map")),
    }
}

/// The given options among flags.
fn given(matches: &mut ArgMatches, flags: impl Iterator<Item = CorpusOption>) -> Table {
    let mut table = Table::new();
    for option in flags {
        if let Some(value) = value(matches, &option) {
            table.insert(option.name.to_owned(), value);
        }
    }
    table
}

fn value(matches: &mut ArgMatches, option: &CorpusOption) -> Option<Value> {
    let name = option.name;
    Some(match option.values {
        OptionValues::Flag if option.value_name.is_empty() => {
            Value::Boolean(matches.remove_one::<bool>(name).filter(|&given| given)?)
        }
        OptionValues::Flag => Value::Boolean(matches.remove_one(name)?),
        OptionValues::Unsigned => {
            let number: u64 = matches.remove_one(name)?;
            i64::try_from(number).map_or_else(|_| number.to_string().into(), Value::Integer)
        }
        OptionValues::Integer => Value::Integer(matches.remove_one(name)?),
        OptionValues::Real => Value::Float(matches.remove_one(name)?),
        OptionValues::Names | OptionValues::Transforms => {
            let names = matches.remove_many::<String>(name)?;
            Value::Array(names.map(Value::String).collect())
        }
        _ => Value::String(matches.remove_one(name)?),
    })
}

impl Args for CorpusOptions {
    fn augment_args(command: Command) -> Command {
        let mut args = vec![
            Arg::new("corpus").value_name("CORPUS").help(CORPUS).value_parser(name()),
            Arg::new("override")
                .long("override")
                .value_name("NAME=VALUE")
                .help(OVERRIDE)
                .action(ArgAction::Append),
        ];
        args.extend(flags(OptionScope::Corpus).map(|option| flag(&option)));
        args.push(
            Arg::new("allow-pipes")
                .long("allow-pipes")
                .help(ALLOW_PIPES)
                .action(ArgAction::SetTrue),
        );
        command.args(args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CorpusOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Self::from_arg_matches_mut(&mut matches.clone())
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        let mut given = given(matches, flags(OptionScope::Corpus));
        let mut overrides = Table::new();
        for pair in matches.remove_many::<String>("override").into_iter().flatten() {
            let Some((name, value)) = pair.split_once('=') else {
                let message = format!(
                    "--override {pair}: there is no value\n  help: write --override NAME=VALUE\n"
                );
                return Err(clap::Error::raw(clap::error::ErrorKind::ValueValidation, message));
            };
            overrides.insert(name.trim().to_owned(), Value::String(value.to_owned()));
        }
        if !overrides.is_empty() {
            given.insert("overrides".to_owned(), Value::Table(overrides));
        }
        let name = matches.remove_one("corpus");
        let allow_pipes = matches.remove_one("allow-pipes").unwrap_or(false);
        Ok(Self { name, given, allow_pipes })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for FeedOptions {
    fn augment_args(command: Command) -> Command {
        command.args(flags(OptionScope::Feed).map(|option| flag(&option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FeedOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(given(&mut matches.clone(), flags(OptionScope::Feed))))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl CorpusOptions {
    /// The description for these options.
    pub(crate) fn describe(&self) -> Result<Description> {
        self.describe_with(Table::new())
    }

    /// The same, with the options of the feed.
    pub(crate) fn describe_fed(&self, feed: &FeedOptions) -> Result<Description> {
        self.describe_with(feed.0.clone())
    }

    /// The same, with other options.
    pub(crate) fn describe_with(&self, more: Table) -> Result<Description> {
        let mut given = self.given.clone();
        given.extend(more);
        match self.name.as_deref() {
            None if !["features", "labels"].iter().any(|name| given.contains_key(*name)) => {
                Err(Error::usage("which corpus? give its name")
                    .with_help(
                        "such as corpus.toml, scp:feats.scp, train.ctf, train.pfile, or an HTK script",
                    )
                    .into())
            }
            None => Ok(Description::from_options(given)?),
            Some(name) => {
                let named = Description::of_name_with(&name_from_text(name), given, &self.opener())?;
                named.warnings.iter().for_each(|warning| report::warning(warning));
                named.notes.iter().for_each(|note| report::note(note));
                Ok(named.description)
            }
        }
    }

    /// The name of the corpus, if one was given.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The name of the corpus, if no other option for corpora was given.
    pub(crate) fn only_name(&self) -> Option<&str> {
        self.name().filter(|_| self.given.is_empty())
    }

    /// The object of Kaldi's with the name. `None` if the name means a corpus, as it does together
    /// with options for corpora.
    pub(crate) fn kaldi_object(&self) -> Result<Option<KaldiObject>> {
        match self.only_name() {
            Some(name) => KaldiObject::of_name(name, &self.opener()),
            None => Ok(None),
        }
    }

    /// Opens names, by the rule for commands in names.
    pub(crate) fn opener(&self) -> Opener {
        let opener = opener(self.allow_pipes);
        let limit = self.given.get("line-limit").and_then(Value::as_integer);
        match limit.and_then(|bytes| usize::try_from(bytes).ok()) {
            Some(bytes) => opener.with_line_limit(bytes),
            None => opener,
        }
    }

    /// The first of several names, if it is not that of a corpus: features were given by an option,
    /// and there is no corpus with this name.
    pub(crate) fn take_name_beside_features(&mut self) -> Option<String> {
        let opener = self.opener();
        let is_corpus = |name: &String| opener.exists(&opener.place(name_from_text(name)));
        self.name.take_if(|name| self.given.contains_key("features") && !is_corpus(name))
    }

    /// Sets the name of the corpus.
    pub(crate) fn rename(&mut self, name: Option<String>) {
        self.name = name;
    }

    /// Opens the corpus of a description with the types of its files: 64-bit floats stay so.
    pub(crate) fn open_exactly(&self, description: &Description) -> Result<Opened> {
        Ok(description.open_exactly(&self.opener())?)
    }

    /// Opens the corpus of a description.
    pub(crate) fn open(&self, description: &Description) -> Result<Opened> {
        Ok(description.open(&self.opener())?)
    }
}

/// The option for the time between samples.
#[derive(Args, Debug)]
pub(crate) struct FrameShift {
    /// From one sample to the next: "10 ms" "62.5 us", or seconds [default: what the files say,
    /// as HTK's do, or 10 ms]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    frame_shift: Option<f64>,
}

impl FrameShift {
    /// Whether the option was given.
    pub(crate) fn is_given(&self) -> bool {
        self.frame_shift.is_some()
    }

    /// Seconds from one sample to the next.
    pub(crate) fn of(&self, opened: &Opened) -> f64 {
        self.or_given(opened.frame_shift())
    }

    /// The value of the option, or else of the files, or else 10 ms.
    pub(crate) fn or_given(&self, said: Option<f64>) -> f64 {
        self.frame_shift.or(said).unwrap_or(0.01)
    }
}

/// Parses a time in seconds: `10 ms`, `12.5ms`, `0.01`, `0.01 s`.
fn seconds(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let units = [("ms", 1e-3), ("us", 1e-6), ("s", 1.0), ("", 1.0)];
    let mut found =
        units.iter().filter_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)));
    let (number, scale) = found.next().unwrap_or((text, &1.0));
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number * scale),
        _ => Err("expected a time, such as `10 ms` or `0.01`".to_owned()),
    }
}
