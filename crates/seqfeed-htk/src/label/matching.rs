//! Names of entries, and the label files that they match.

/// The class of a pattern. Each class is looked up in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// One name.
    Fixed,
    /// `*/name`: the name in any directory, or in none.
    AnyPath,
    /// Any other pattern with `*` or `?`.
    General,
}

/// The class of pattern `name`, and the part of it by which it is looked up.
pub(super) fn classify(name: &[u8]) -> (Class, &[u8]) {
    if memchr::memchr(b'?', name).is_some() {
        return (Class::General, name);
    }
    if memchr::memchr(b'*', name).is_none() {
        return (Class::Fixed, name);
    }
    match name.strip_prefix(b"*/") {
        Some(rest) if !rest.is_empty() && memchr::memchr(b'*', rest).is_none() => {
            (Class::AnyPath, rest)
        }
        _ => (Class::General, name),
    }
}

/// The part of a name after its last slash.
pub(super) fn file_part(name: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', name).map_or(name, |slash| &name[slash + 1..])
}

/// Whether the name of an entry matches a label file.
pub(super) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match classify(pattern) {
        (Class::Fixed, pattern) => pattern == name,
        (Class::AnyPath, pattern) => pattern == file_part(name),
        (Class::General, pattern) => wild(pattern, name),
    }
}

/// `*` matches any bytes, also slashes and none; `?` matches one byte.
fn wild(pattern: &[u8], name: &[u8]) -> bool {
    let (mut in_pattern, mut in_name) = (0, 0);
    // The position after the last star, and the end of its match: only this choice ever needs
    // another try.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(in_pattern), name.get(in_name)) {
            (Some(b'*'), _) => {
                in_pattern += 1;
                retry = Some((in_pattern, in_name));
            }
            (Some(&byte), Some(&other)) if byte == b'?' || byte == other => {
                in_pattern += 1;
                in_name += 1;
            }
            (None, None) => return true,
            _ => match &mut retry {
                Some((behind, covered)) if *covered < name.len() => {
                    *covered += 1;
                    (in_pattern, in_name) = (*behind, *covered);
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_htk_matches_them() {
        for (pattern, name, expected) in [
            ("a.lab", "a.lab", true),
            ("a.lab", "x/a.lab", false),
            ("*/a.lab", "a.lab", true),
            ("*/a.lab", "x/y/a.lab", true),
            ("*/x/a.lab", "x/a.lab", false),
            ("*/*b.lab", "x/y/b.lab", true),
            ("*/*b.lab", "b.lab", false),
            ("*a?b*", "a/b", true),
            ("*a?b*", "xxaabaxbyy", true),
            ("?", "", false),
            ("*", "", true),
            ("*aab", "aaaab", true),
            ("*aab", "aaaabb", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }
}
