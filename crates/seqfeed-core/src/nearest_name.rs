//! Suggests a known name for an unknown word.

/// The known name that is most like a word, or `None` if too much differs.
///
/// At most a third of the letters of the word may differ, and at most three. Two swapped letters
/// count as one. Case does not matter, nor does `-` against `_`.
///
/// ```
/// use seqfeed_core::nearest_name;
///
/// let keys = ["batch-size", "order", "seed"];
/// assert_eq!(nearest_name("bacth_size", keys), Some("batch-size"));
/// assert_eq!(nearest_name("colour", keys), None);
/// ```
#[must_use]
pub fn nearest_name<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let word = plain(word.trim());
    let letters = word.chars().count();
    let allowed = (letters / 3).clamp(1, 3);
    let distance = |name: &str| {
        // Comparing takes time in the product of both lengths, and words may be long.
        let like = name.chars().count().abs_diff(letters) <= allowed;
        like.then(|| strsim::damerau_levenshtein(&word, &plain(name)))
    };
    let near = known.into_iter().filter_map(|name| Some((distance(name)?, name)));
    let near = near.filter(|(distance, _)| *distance <= allowed);
    near.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_is_like_it() {
        let cases = [
            ("randomise", Some("randomize")),
            ("RANDOMIZE", Some("randomize")),
            ("RandomizeWindow", None),
            ("fiel", Some("file")),
            ("x", None),
            ("", None),
            (" input", Some("input")),
            ("keepDataInMem", Some("keepDataInMemory")),
            ("keepData", None),
            ("keepDataInMemroy", Some("keepDataInMemory")),
            ("ignore_labels", Some("ignore-label")),
        ];
        let known = [
            "randomize",
            "randomizationWindow",
            "file",
            "keepDataInMemory",
            "input",
            "ignore-label",
        ];
        for (word, expected) in cases {
            assert_eq!(nearest_name(word, known), expected, "{word}");
        }
        assert_eq!(nearest_name(&"x".repeat(1 << 20), known), None);
    }
}
