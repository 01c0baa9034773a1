//! Translates the options of a data specification into options of a description.

use seqfeed_core::Result;
use seqfeed_io::{Opener, name_from_text, name_to_text};
use toml::{Table, Value};

use crate::data_spec::{self, DataFormat, DataOptions, DataSpec};
use crate::description::Description;
use crate::name_text::is_rspecifier;

impl Description {
    /// Whether a text is a data specification: the name of a file that PDNN reads (or a pattern, or
    /// several names), or any name with options behind it.
    #[must_use]
    pub fn is_data_spec(text: &str, opener: &Opener) -> bool {
        let end = data_spec::options_start(text);
        let name = text[..end].split([',', '|']).next().unwrap_or_default();
        let names_data = !is_rspecifier(text) && DataFormat::of(name).is_some();
        let is_file = || opener.exists(&opener.place(name_from_text(text)));
        (end < text.len() && !text.ends_with('|') && !is_file()) || names_data
    }

    /// Splits a data specification of files that PDNN does not read, `train.ctf,context=5`. Returns
    /// the name, the [options](crate::options) of a description, and warnings. `None` if the files
    /// are PDNN's: a description takes these as they are (the key `data`).
    ///
    /// # Errors
    ///
    /// Fails if an option is wrong.
    pub fn split_data_spec(
        text: &str,
        opener: &Opener,
    ) -> Result<Option<(String, Table, Vec<String>)>> {
        let end = data_spec::options_start(text);
        let name = &text[..end];
        if !is_rspecifier(name)
            && DataFormat::of(name.split([',', '|']).next().unwrap_or_default()).is_some()
        {
            return Ok(None);
        }
        let spec = DataSpec::parse_options(text, end)?;
        let mut keys = keys(&spec.options);
        if let Some(label) = &spec.options.label {
            let name = name_from_text(label);
            // The options as written, unless such a file exists.
            let place = opener.place(&name);
            let found = opener.or_compressed(&place);
            let name = if found == place { name } else { found.into_name() };
            keys.insert("labels".to_owned(), Value::String(format!("ark:{}", name_to_text(name))));
        }
        Ok(Some((name.to_owned(), keys, spec.warnings)))
    }
}

/// The options of a description with the same meaning as those of a specification.
pub(crate) fn keys(options: &DataOptions) -> Table {
    let mut table = Table::new();
    let mut text = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            table.insert(key.to_owned(), Value::String(value));
        }
    };
    let range = |low: i32, high: i32| match low == high {
        true => low.to_string(),
        false => format!("{low}-{high}"),
    };
    text("context", options.context.map(|(left, right)| format!("{left}:{right}")));
    text(
        "ignore-label",
        options.ignore.as_ref().map(|ranges| {
            let each = ranges.iter().map(|&(low, high)| range(low, high));
            each.collect::<Vec<_>>().join(":")
        }),
    );
    text(
        "map-label",
        options.map.as_ref().map(|rules| {
            let each = rules.iter().map(|&(low, high, new)| format!("{}:{new}", range(low, high)));
            each.collect::<Vec<_>>().join("/")
        }),
    );
    text("partition", options.partition.map(|bytes| (bytes >> 20).to_string()));
    text("preset", Some("pdnn".to_owned()));
    text("partial", Some("drop".to_owned()));
    text(
        "order",
        Some(if options.random == Some(true) { "shuffle" } else { "sequential" }.to_owned()),
    );
    for (key, value) in [("stream", options.stream), ("reshuffle", options.reshuffle)] {
        if let Some(value) = value {
            table.insert(key.to_owned(), Value::Boolean(value));
        }
    }
    for (key, value) in [("seed", options.seed), ("batch-size", options.batch)] {
        if let Some(value) = value {
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            table.insert(key.to_owned(), Value::Integer(value));
        }
    }
    table
}
