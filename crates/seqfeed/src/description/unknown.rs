//! Keys and values that a description does not know: what was probably meant.

use seqfeed_core::{Error, nearest_name};

/// The error for what serde says of a description; of unknown words, with the one that was
/// probably meant.
pub(super) fn error(prefix: &str, message: &str) -> Error {
    let Some((what, word, known)) = unknown(message) else {
        return Error::usage(format!("{prefix}: {message}"));
    };
    let said = |message: &str| Error::usage(format!("{prefix}: {message}"));
    match (nearest_name(word, known.iter().copied()), what) {
        (Some(near), "field") => {
            said(&format!("unknown field `{word}`")).with_help(format!("did you mean `{near}`?"))
        }
        (None, "field") => said(&format!("unknown field `{word}`"))
            .with_help(format!("the keys here are {}", known.join(", "))),
        (Some(near), _) => said(message).with_help(format!("did you mean `{near}`?")),
        (None, _) => said(message),
    }
}

/// What serde calls it, the word, and those that are known, each in one spelling.
fn unknown(message: &str) -> Option<(&str, &str, Vec<&str>)> {
    let (what, rest) = message.strip_prefix("unknown ")?.split_once(" `")?;
    let (word, rest) = rest.split_once('`')?;
    let expected = rest.strip_prefix(", expected ")?;
    // Every second part stands between quotes; keys with a dash may be spelled with a `_` too.
    let mut known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let all = known.clone();
    known.retain(|name| !name.contains('_') || !all.contains(&name.replace('_', "-").as_str()));
    Some((what, word, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_was_probably_meant() {
        let cases = [
            ("unknown field `bacth-size`, expected one of `batch-size`, `batch_size`, `seed`", {
                ("x: unknown field `bacth-size`", Some("did you mean `batch-size`?"))
            }),
            ("unknown field `colour`, expected one of `batch-size`, `batch_size`, `seed`", {
                ("x: unknown field `colour`", Some("the keys here are batch-size, seed"))
            }),
            ("unknown field `sead`, expected `seed`", {
                ("x: unknown field `sead`", Some("did you mean `seed`?"))
            }),
            ("unknown variant `Shufle`, expected `shuffle` or `sequential`", {
                (
                    "x: unknown variant `Shufle`, expected `shuffle` or `sequential`",
                    Some("did you mean `shuffle`?"),
                )
            }),
            ("unknown variant `random`, expected `shuffle` or `sequential`", {
                ("x: unknown variant `random`, expected `shuffle` or `sequential`", None)
            }),
            ("a window is expected", ("x: a window is expected", None)),
        ];
        for (message, (expected, help)) in cases {
            let error = error("x", message);
            assert_eq!((error.message().as_str(), error.help()), (expected, help));
        }
    }
}
