//! The description of what was written: the `corpus.toml` that opens it again.

use std::path::Path;

use seqfeed_core::{Element, Extent, Kind, Stream};
use seqfeed_io::{WxFilename, name_from_text, name_to_text, path_from_text};
use seqfeed_kaldi::Wspecifier;
use seqfeed_pdnn::spec::FileKind;
use toml::{Table, Value};

use super::target::{Target, TargetFormat};
use crate::arrow_files::is_arrow;
use crate::fingerprint::Fingerprint;
use crate::reader::is_bare_ctf;

/// The description of targets that hold the parts of one corpus, for a file in the directory
/// `base`; nothing, where no description can name them all.
pub(super) fn describe(
    parts: &[Target],
    tables: &[Vec<(usize, String)>],
    streams: &[Stream],
    fingerprint: &Fingerprint,
    base: &Path,
) -> Option<String> {
    let format = parts.first()?.format();
    let mut top = Table::new();
    match format {
        TargetFormat::Kaldi => {
            let mut described = Table::new();
            for (number, stream) in streams.iter().enumerate() {
                let sources: Option<Vec<Value>> = tables
                    .iter()
                    .filter_map(|tables| tables.iter().find(|(stream, _)| *stream == number))
                    .map(|(_, wspecifier)| {
                        let table = Wspecifier::parse(&name_from_text(wspecifier)).ok()?;
                        let name = match (table.archive, table.script) {
                            (Some(archive), _) => {
                                format!("ark:{}", relative(&name_to_text(archive), base)?)
                            }
                            (None, Some(script)) => {
                                format!("scp:{}", relative(&name_to_text(script), base)?)
                            }
                            (None, None) => return None,
                        };
                        Some(Value::String(name))
                    })
                    .collect();
                described.insert(stream.name.clone(), stream_table(stream, one_or_all(sources?)));
            }
            top.insert("streams".to_owned(), Value::Table(described));
        }
        TargetFormat::Htk | TargetFormat::HtkFiles => {
            let all = |end: &str| -> Option<Value> {
                let name = |part: &Target| {
                    relative(&format!("{}.{end}", part.name()), base).map(Value::String)
                };
                parts.iter().map(name).collect::<Option<Vec<Value>>>().map(one_or_all)
            };
            let mut described = Table::new();
            for stream in streams {
                let table = if stream.kind == Kind::Dense {
                    stream_table(stream, all("scp")?)
                } else {
                    let mut table = stream_table(stream, all("mlf")?);
                    // The longest list has the names of all the others.
                    let longest = parts.iter().max_by_key(|part| {
                        std::fs::metadata(path_from_text(&format!("{}.states", part.name())))
                            .map_or(0, |m| m.len())
                    })?;
                    let states = relative(&format!("{}.states", longest.name()), base)?;
                    table.as_table_mut()?.insert("states".to_owned(), Value::String(states));
                    table
                };
                described.insert(stream.name.clone(), table);
            }
            top.insert("streams".to_owned(), Value::Table(described));
        }
        TargetFormat::Ctf => {
            let [part] = parts else { return None };
            let name = relative(part.name(), base).filter(|name| is_bare_ctf(name))?;
            top.insert("reader".to_owned(), Value::String(name));
            let mut inputs = Table::new();
            for (stream, found) in streams.iter().zip(&fingerprint.streams) {
                let sparse = stream.kind != Kind::Dense;
                let dim = match stream.kind {
                    Kind::Label => i64::from(found.largest.unwrap_or(0)) + 1,
                    _ => i64::try_from(stream.dim).unwrap_or(i64::MAX),
                };
                let mut input = Table::new();
                input.insert("dim".to_owned(), Value::Integer(dim));
                let format = if sparse { "sparse" } else { "dense" };
                input.insert("format".to_owned(), Value::String(format.to_owned()));
                inputs.insert(stream.name.clone(), Value::Table(input));
            }
            top.insert("inputs".to_owned(), Value::Table(inputs));
        }
        TargetFormat::Alignments => {
            let name = |part: &Target| {
                Some(Value::String(format!("ark:{}", relative(part.name(), base)?)))
            };
            let names: Option<Vec<Value>> = parts.iter().map(name).collect();
            let mut described = Table::new();
            let stream = streams.first()?;
            described.insert(stream.name.clone(), stream_table(stream, one_or_all(names?)));
            top.insert("streams".to_owned(), Value::Table(described));
        }
        TargetFormat::Parquet | TargetFormat::Arrow => {
            let name = |part: &Target| relative(part.name(), base).map(Value::String);
            let names: Option<Vec<Value>> = parts.iter().map(name).collect();
            let names = names?;
            // What stands behind `#` is a column, and only some ends are known for such files.
            let told = |name: &Value| {
                name.as_str().is_some_and(|name| is_arrow(name) && !name.contains('#'))
            };
            if !names.iter().all(told) {
                return None;
            }
            top.insert("corpus".to_owned(), one_or_all(names));
        }
        TargetFormat::PFile | TargetFormat::Pickle | TargetFormat::Npy | TargetFormat::Npz => {
            let names: Option<Vec<String>> =
                parts.iter().map(|part| relative(part.name(), base)).collect();
            let names = names?;
            let kind = match format {
                TargetFormat::PFile => FileKind::PFile,
                TargetFormat::Npz => FileKind::Npz,
                _ => FileKind::Pickle,
            };
            // A comma would begin an option, and what a file holds is told by its name.
            let told = |name: &String| {
                !name.contains([',', '|', '*', '?', '[']) && FileKind::of(name) == Some(kind)
            };
            if !names.iter().all(told) {
                return None;
            }
            let data = match &names[..] {
                [one] => one.clone(),
                _ => pattern(&names)?,
            };
            top.insert("data".to_owned(), Value::String(data));
        }
    }
    let text = toml::to_string(&top).ok()?;
    Some(format!("# Written by seqfeed convert. Names are relative to this file.\n{text}"))
}

/// A pattern for names that differ in their numbers: `out-*-of-00008.pfile`.
fn pattern(names: &[String]) -> Option<String> {
    let first = names.first()?;
    let at = first.rfind("00001-of-")?;
    let pattern = format!("{}*{}", &first[..at], &first[at + 5..]);
    let fits = |name: &String| name.len() == first.len() && name.starts_with(&first[..at]);
    names.iter().all(fits).then_some(pattern)
}

fn one_or_all(mut names: Vec<Value>) -> Value {
    if names.len() == 1 { names.remove(0) } else { Value::Array(names) }
}

fn stream_table(stream: &Stream, source: Value) -> Value {
    let mut table = Table::new();
    table.insert("source".to_owned(), source);
    if stream.kind != Kind::Dense {
        table.insert("kind".to_owned(), Value::String(stream.kind.name().to_owned()));
    }
    if stream.kind == Kind::Sparse {
        // Posteriors do not say it.
        let dim = i64::try_from(stream.dim).unwrap_or(i64::MAX);
        table.insert("dim".to_owned(), Value::Integer(dim));
    }
    if stream.element == Element::F64 {
        table.insert("dtype".to_owned(), Value::String("float64".to_owned()));
    }
    if stream.extent != Extent::Samples {
        table.insert("extent".to_owned(), Value::String(stream.extent.name().to_owned()));
    }
    Value::Table(table)
}

/// A name as seen from a directory: the name alone for what lies in it, else an absolute one.
/// Nothing for what is no file.
fn relative(name: &str, base: &Path) -> Option<String> {
    let WxFilename::File(path) = WxFilename::parse(&name_from_text(name)).ok()? else {
        return None;
    };
    let absolute = std::path::absolute(path).ok()?;
    let base = std::path::absolute(base).ok()?;
    let inside = absolute.strip_prefix(&base).ok().filter(|inside| !inside.as_os_str().is_empty());
    Some(name_to_text(inside.unwrap_or(&absolute)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::fingerprint::Fingerprinter;

    #[test]
    fn names_that_do_not_tell_what_a_file_holds_are_not_described() {
        let nothing = Fingerprinter::new(&[]).finish();
        let described = |name: &str| {
            let target = [Target::parse(name).unwrap()];
            describe(&target, &[], &[], &nothing, Path::new(".")).is_some()
        };
        for name in ["x.pfile", "npz:x.npz", "x.pkl.gz", "x.npy", "ctf:x", "x.ctf.gz"] {
            assert!(described(name), "{name}");
        }
        // A description of these would open something else, or nothing.
        for name in ["pfile:x", "pfile:x.npz", "npz:x", "pickle:x.toml", "ctf:x.json", "ctf:x#y"] {
            assert!(!described(name), "{name}");
        }
    }
}
