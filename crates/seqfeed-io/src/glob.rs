//! Patterns with `*`, `?` and `[...]`, as in the shell and in Python's `glob`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use seqfeed_core::{Error, Result};

use crate::{Location, Opener, shown_name};

impl Opener {
    /// The files that match a pattern, sorted by the bytes of their names. If the pattern is
    /// relative, it and the files are relative to the opener's [directory](Self::in_directory).
    ///
    /// `*` and `?` stand for any characters, `[a-z]` for one of these and `[!a-z]` for any other.
    /// None of them stands for `/`, or for a dot at the beginning. A name without them is the file
    /// itself, whether it exists or not.
    ///
    /// # Errors
    ///
    /// If no file matches, or if a directory or a store cannot be read.
    pub fn list(&self, pattern: &(impl AsRef<OsStr> + ?Sized)) -> Result<Vec<OsString>> {
        let whole = pattern.as_ref();
        if !has_wildcards(whole.as_bytes()) {
            return Ok(vec![whole.to_owned()]);
        }
        let mut names: Vec<OsString> = match self.place(whole).url() {
            Some(url) => {
                let listed = self.store(url)?.list(url);
                let fail = |error| Error::io("listing", error).in_file(url.to_string());
                let urls = listed.map_err(fail)?.into_iter();
                urls.map(|url| Location::Url(url).into_name()).collect()
            }
            None => self.files(whole.as_bytes())?,
        };
        if names.is_empty() {
            return Err(Error::usage(format!("no file matches {}", shown_name(whole))));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The files of a pattern with wildcards, in the file system.
    fn files(&self, pattern: &[u8]) -> Result<Vec<OsString>> {
        let directory = self.directory().and_then(Location::path).unwrap_or(Path::new(""));
        let mut found = vec![PathBuf::from(if pattern.starts_with(b"/") { "/" } else { "" })];
        let parts = pattern.split(|&byte| byte == b'/').filter(|part| !part.is_empty());
        let parts: Vec<&[u8]> = parts.collect();
        for (number, part) in parts.iter().enumerate() {
            let mut next = Vec::new();
            for inside in found {
                if !has_wildcards(part) {
                    next.push(inside.join(OsStr::from_bytes(part)));
                    continue;
                }
                let real = directory.join(&inside);
                let real =
                    if real.as_os_str().is_empty() { Path::new(".").to_owned() } else { real };
                // Not a directory: nothing in it matches.
                let Ok(entries) = std::fs::read_dir(&real) else { continue };
                for entry in entries {
                    let entry = entry
                        .map_err(|error| Error::io("reading", error).in_file(shown_name(&real)))?;
                    let name = entry.file_name();
                    if matches(part, name.as_bytes()) {
                        next.push(inside.join(name));
                    }
                }
            }
            let last = number + 1 == parts.len();
            found = next;
            found.retain(|path| !last || directory.join(path).exists());
        }
        Ok(found.into_iter().map(PathBuf::into_os_string).collect())
    }
}

fn has_wildcards(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

/// Whether a name matches one part of a pattern.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    if name.first() == Some(&b'.') && pattern.first() != Some(&b'.') {
        return false;
    }
    // The position behind the last star, and the position in the name behind the part that it
    // stands for.
    let mut star: Option<(usize, usize)> = None;
    let (mut p, mut n) = (0, 0);
    loop {
        let step = match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
                continue;
            }
            None if n == name.len() => return true,
            None => None,
            Some(_) if n == name.len() => None,
            Some(_) => matches_one(&pattern[p..], name[n]),
        };
        match (step, star) {
            (Some(width), _) => (p, n) = (p + width, n + 1),
            (None, Some((at, begin))) if begin < name.len() => {
                star = Some((at, begin + 1));
                (p, n) = (at + 1, begin + 1);
            }
            (None, _) => return false,
        }
    }
}

/// The length of the beginning of a pattern that matches one byte of a name, if it does.
fn matches_one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern[0] {
        b'?' => Some(1),
        b'[' => match set(pattern) {
            Some((width, negated, members)) => {
                let mut inside = false;
                let mut rest = members;
                while let [first, tail @ ..] = rest {
                    match tail {
                        [b'-', last, after @ ..] => {
                            inside |= (first..=last).contains(&&byte);
                            rest = after;
                        }
                        _ => {
                            inside |= *first == byte;
                            rest = tail;
                        }
                    }
                }
                (inside != negated).then_some(width)
            }
            // A bracket that is never closed stands for itself.
            None => (byte == b'[').then_some(1),
        },
        other => (other == byte).then_some(1),
    }
}

/// The set at the beginning of a pattern: its width, whether it is negated, its members.
fn set(pattern: &[u8]) -> Option<(usize, bool, &[u8])> {
    let negated = pattern.get(1) == Some(&b'!');
    let first = 1 + usize::from(negated);
    // A closing bracket stands for itself if it comes first.
    let close = first + 1 + pattern.get(first + 1..)?.iter().position(|&byte| byte == b']')?;
    Some((close + 1, negated, &pattern[first..close]))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn matches_as_the_shell_does() {
        let cases = [
            ("*", "a", true),
            ("*", "", true),
            ("*", ".a", false),
            (".*", ".a", true),
            ("a*b*c", "aXbYbc", true),
            ("a*b*c", "aXbYb", false),
            ("m?.pfile", "m1.pfile", true),
            ("m?.pfile", "m12.pfile", false),
            ("m[12]", "m2", true),
            ("m[12]", "m3", false),
            ("m[!12]", "m3", true),
            ("m[a-cx]", "mb", true),
            ("m[a-cx]", "mx", true),
            ("m[]]", "m]", true),
            ("m[", "m[", true),
            ("**a", "ba", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn finds_files_in_sorted_order() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        for name in ["b/2.x", "a/1.x", "a/10.x", "a/.h.x", "c"] {
            fs::create_dir_all(base.join(name).parent().unwrap()).unwrap();
            fs::write(base.join(name), "").unwrap();
        }
        let inside = Opener::default().in_directory(Some(base.into()));
        assert_eq!(inside.list("*/*.x").unwrap(), ["a/1.x", "a/10.x", "b/2.x"]);
        assert_eq!(inside.list("*/1.x").unwrap(), ["a/1.x"]);
        let names = ["a/1.x", "a/10.x"].map(|name| base.join(name).into_os_string());
        assert_eq!(Opener::default().list(&base.join("?/1*")).unwrap(), names);
        assert!(inside.list("*.y").unwrap_err().message().contains("matches *.y"));
        assert_eq!(inside.list("none").unwrap(), ["none"]);
    }
}
