//! Features that lines of JSON point at.

use std::ops::Range;

use seqfeed_core::{Error, Key, Problem, Result};
use serde_json::Value as Json;

use crate::form::{JSON, field_of, key_of, parse_json};

/// Extensions of sound.
const SOUND: [&str; 9] = ["wav", "flac", "mp3", "opus", "ogg", "m4a", "sph", "aac", "pcm"];
/// The cure where features are missing.
const COMPUTE: &str =
    "a network is fed with features: compute them first, and let the list point at them";

/// The place of a sequence's features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The key of the sequence.
    pub key: Vec<u8>,
    /// Where the features are.
    pub target: Target,
    /// The frames that belong to the sequence. `None` for all of them.
    pub frames: Option<Range<u32>>,
}

/// What a [`Reference`] points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An object of Kaldi's, by its extended file name.
    Object(String),
    /// The object with a key in a script file of Kaldi's.
    Entry {
        /// The script file.
        script: String,
        /// The key there.
        key: String,
    },
    /// A `.npy` file.
    Npy(String),
}

impl Reference {
    /// Reads the features of a line: a field with a name, or the field `features` of lhotse's cuts.
    ///
    /// # Errors
    ///
    /// Fails if the line is no object, if it points at sound, or at features in a form that is not
    /// read.
    pub fn parse(line: &[u8], field: &str) -> Result<Self> {
        let object = parse_json(line)?;
        let key = key_of(&object)?;
        let reference = match field_of(&object, field) {
            Some(Json::String(name)) => named(&name).map(|target| (target, None)),
            Some(Json::Object(features)) => of_lhotse(&object, &Json::Object(features)),
            None | Some(Json::Null) => Err(no_features(field)),
            Some(_) => Err(wrong(format!("`{field}` must be a name").as_str())),
        };
        let (target, frames) = reference.map_err(|error| error.of_key(Key(&key)))?;
        Ok(Self { key, target, frames })
    }
}

fn wrong(what: &str) -> Error {
    Error::format(JSON, Problem::Unsupported(what.to_owned().into()))
}

fn no_features(field: &str) -> Error {
    wrong(&format!("there are no features: `{}` is not there", Key(field.as_bytes())))
        .with_help(COMPUTE)
}

/// What a name points at.
fn named(name: &str) -> Result<Target> {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
    if SOUND.contains(&end.as_str()) {
        let what = format!("`{}` is sound", Key(name.as_bytes()));
        return Err(wrong(&what).with_help(COMPUTE));
    }
    // A script file has one entry a line, and brackets would be a range.
    if name.is_empty() || name.contains(['\n', '\r', '[', ']']) {
        let what = format!("`{}` is not the name of features", Key(name.as_bytes()));
        return Err(wrong(&what));
    }
    Ok(match end.as_str() {
        "npy" => Target::Npy(name.to_owned()),
        _ => Target::Object(name.to_owned()),
    })
}

/// The features of a cut of lhotse's, and the frames of the cut.
fn of_lhotse(cut: &Json, features: &Json) -> Result<(Target, Option<Range<u32>>)> {
    let text = |name: &str| features.get(name).and_then(Json::as_str).unwrap_or_default();
    let (path, key) = (text("storage_path"), text("storage_key"));
    let target = match text("storage_type") {
        "kaldiio" | "kaldi_native_io" if path.ends_with(".scp") => {
            Target::Entry { script: path.to_owned(), key: key.to_owned() }
        }
        "kaldiio" | "kaldi_native_io" => named(path)?,
        "numpy_files" => match path.trim_end_matches('/') {
            "" => Target::Npy(key.to_owned()),
            directory => Target::Npy(format!("{directory}/{key}")),
        },
        "" => return Err(wrong("`features` has no storage_type, as lhotse's features have")),
        other => {
            let what = format!("features are stored as `{}`", Key(other.as_bytes()));
            return Err(wrong(&what).with_help(
                "those stored as kaldiio, kaldi_native_io and numpy_files are read: copy them with \
                 lhotse's NumpyFilesWriter",
            ));
        }
    };
    Ok((target, frames_of(cut, features)))
}

/// The frames of a cut, if it is a part of its features.
fn frames_of(cut: &Json, features: &Json) -> Option<Range<u32>> {
    let number = |object: &Json, name: &str| object.get(name).and_then(Json::as_f64);
    let shift = number(features, "frame_shift").filter(|shift| *shift > 0.0)?;
    let all = features.get("num_frames").and_then(Json::as_u64)?;
    let all = u32::try_from(all).ok()?;
    let start = number(cut, "start")? - number(features, "start").unwrap_or(0.0);
    // Conversions of floats stay in the range of the integers.
    let first = ((start / shift).round() as u32).min(all);
    let count = (number(cut, "duration")? / shift).round() as u32;
    let end = first.saturating_add(count).min(all);
    (first > 0 || end < all).then_some(first..end)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse(line: &str, field: &str) -> Result<Reference> {
        Reference::parse(line.as_bytes(), field)
    }

    #[test]
    fn a_field_names_features() {
        let object = parse(r#"{"key": "a", "feat": "f.ark:12"}"#, "feat").unwrap();
        assert_eq!(object.target, Target::Object("f.ark:12".to_owned()));
        let npy = parse(r#"{"key": "a", "feat": "d/a.npy"}"#, "feat").unwrap();
        assert_eq!((npy.target, npy.frames), (Target::Npy("d/a.npy".to_owned()), None));
        let cases = [
            (r#"{"key": "a", "feat": "a.flac"}"#, "`a.flac` is sound"),
            (r#"{"key": "a", "wav": "a.ark:1"}"#, "no features"),
            (r#"{"key": "a", "feat": null}"#, "no features"),
            (r#"{"key": "a", "feat": 3}"#, "must be a name"),
            (r#"{"key": "a", "feat": "x[0:3]"}"#, "not the name"),
        ];
        for (line, message) in cases {
            let error = parse(line, "feat").unwrap_err();
            assert!(error.message().contains(message), "{error}");
        }
    }

    #[test]
    fn cuts_of_lhotse_have_frames() {
        let cut = |storage: &str, start: f64, duration: f64| {
            let line = format!(
                r#"{{"id": "c", "start": {start}, "duration": {duration}, "features":
                {{"start": 0, "duration": 2.0, "num_frames": 200, "frame_shift": 0.01, {storage}}}}}"#
            );
            parse(&line, "features")
        };
        let npy = r#""storage_type": "numpy_files", "storage_path": "d", "storage_key": "c/c.npy""#;
        let whole = cut(npy, 0.0, 2.0).unwrap();
        assert_eq!((whole.target, whole.frames), (Target::Npy("d/c/c.npy".to_owned()), None));
        assert_eq!(cut(npy, 0.5, 0.755).unwrap().frames, Some(50..126));
        assert_eq!(cut(npy, 1.9, 3.0).unwrap().frames, Some(190..200));
        let kaldi =
            r#""storage_type": "kaldiio", "storage_path": "data/feats.scp", "storage_key": "u""#;
        let entry = Target::Entry { script: "data/feats.scp".to_owned(), key: "u".to_owned() };
        assert_eq!(cut(kaldi, 0.0, 2.0).unwrap().target, entry);
        let kaldi = r#""storage_type": "kaldiio", "storage_path": "f.ark:7", "storage_key": "u""#;
        assert_eq!(cut(kaldi, 0.0, 2.0).unwrap().target, Target::Object("f.ark:7".to_owned()));
        let error = cut(r#""storage_type": "lilcom_chunky""#, 0.0, 2.0).unwrap_err();
        assert!(error.message().contains("`lilcom_chunky`") && error.help().is_some(), "{error}");
    }
}
