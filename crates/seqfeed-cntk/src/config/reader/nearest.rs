//! What was probably meant by a name or a word.

/// The name that is most like this one: at most a third of it differs, and at most 3 letters.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > 64 {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    known
        .map(|known| (distance(&lower, &known.to_ascii_lowercase()), known))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// How many letters must be put in, left out, replaced, or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_letters() {
        let cases =
            [("", "", 0), ("abc", "acb", 1), ("abc", "abd", 1), ("abc", "", 3), ("a", "ab", 1)];
        for (a, b, expected) in cases {
            assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn suggests_what_is_like_it() {
        let cases = [
            ("randomise", Some("randomize")),
            ("RandomizeWindow", None),
            ("fiel", Some("file")),
            ("x", None),
            ("keepDataInMem", Some("keepDataInMemory")),
            ("keepData", None),
        ];
        for (name, expected) in cases {
            let known = ["randomize", "randomizationWindow", "file", "keepDataInMemory", "input"];
            assert_eq!(nearest(name, known.into_iter()), expected, "{name}");
        }
    }
}
