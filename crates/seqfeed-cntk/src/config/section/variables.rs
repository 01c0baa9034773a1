//! Replaces `$variables$` by their values.

use seqfeed_core::Result;

use super::super::braces::MAX_DEPTH;
use super::super::files::{MAX_BYTES, strip_comment};
use super::super::text::{Text, excerpt, limit};
use super::Section;

/// The most variables in one value, counted through all levels.
const MAX_SUBSTITUTIONS: usize = 10_000;

/// The text with its variables replaced, and without comments.
///
/// Variables are looked up from `scope` outwards, not in sections inside the text.
///
/// # Errors
///
/// Fails if a variable has no value, refers to itself, or has a value of several lines.
pub(crate) fn resolve(text: &Text, scope: &Section) -> Result<Text> {
    Resolver { open: Vec::new(), substitutions: 0, bytes: 0 }.resolve(text, scope)
}

struct Resolver {
    /// The variables that are being replaced: the depth of their sections, and their names.
    open: Vec<(usize, String)>,
    substitutions: usize,
    bytes: usize,
}

impl Resolver {
    fn resolve(&mut self, text: &Text, scope: &Section) -> Result<Text> {
        let mut resolved = Text::default();
        let mut start = 0;
        for (number, line) in text.as_str().split('\n').enumerate() {
            if number > 0 {
                resolved.push_separator('\n');
            }
            let kept = strip_comment(line);
            // A comment after text also removes the blanks before it.
            let begin = start + if kept.len() < line.len() { indent(line, kept) } else { 0 };
            self.line(text, begin..begin + kept.len(), scope, &mut resolved)?;
            start += line.len() + 1;
        }
        // CNTK ends each line of a value of several lines with a newline, even the last one. This
        // shows in texts only: after a section or an array it means nothing.
        let is_text = !matches!(text.bytes().first(), Some(b'[' | b'{' | b'('));
        if is_text && text.as_str().contains('\n') && !text.as_str().ends_with('\n') {
            resolved.push_separator('\n');
        }
        self.spend(text, &resolved)?;
        Ok(resolved)
    }

    fn line(
        &mut self,
        text: &Text,
        range: std::ops::Range<usize>,
        scope: &Section,
        resolved: &mut Text,
    ) -> Result<()> {
        let bytes = &text.bytes()[..range.end];
        let dollar = |from: usize| {
            let found = bytes.get(from..)?.iter().position(|&byte| byte == b'$')?;
            Some(from + found)
        };
        let mut copied = range.start;
        let mut next = dollar(range.start);
        while let Some(start) = next {
            match bytes.get(start + 1) {
                Some(first) if first.is_ascii_alphabetic() || *first == b'_' => {}
                Some(_) => {
                    next = dollar(start + 2);
                    continue;
                }
                None => break,
            }
            let ends = |byte: &u8| b"$,/<>?;':\"[]{}\\|!@#%^&*()+=~` \t\n".contains(byte);
            let end = bytes[start + 1..].iter().position(ends).map(|found| start + 1 + found);
            let Some(end) = end.filter(|&end| bytes[end] == b'$') else {
                next = dollar(start + 1);
                continue;
            };
            let name = &text.as_str()[start + 1..end];
            resolved.push_part(text, copied..start);
            let value = self.variable(text, start, &range, name, scope)?;
            resolved.push_part(&value, 0..value.len());
            copied = end + 1;
            next = dollar(copied);
        }
        resolved.push_part(text, copied..range.end);
        Ok(())
    }

    /// The value of the variable at a byte of a line of the text.
    fn variable(
        &mut self,
        text: &Text,
        at: usize,
        line: &std::ops::Range<usize>,
        name: &str,
        scope: &Section,
    ) -> Result<Text> {
        let Some((owner, value)) = scope.find_text(name) else {
            let line = excerpt(text.as_str().get(line.clone()).unwrap_or_default());
            let message = format!(
                "No variable found with the name {name}. Parsing of string failed: {}:{line}",
                scope.path()
            );
            return Err(text.error(at, message).with_help(format!(
                "give it a value in this section or around it, or by an override behind the \
                 configuration's name: train.cntk#reader,{name}=..."
            )));
        };
        let key = (owner.depth(), name.to_ascii_lowercase());
        if self.open.contains(&key) || self.open.len() >= MAX_DEPTH {
            return Err(text
                .error(at, format!("the variable ${name}$ refers to itself"))
                .with_help(format!("give it a value by an override {name}=...")));
        }
        self.substitutions += 1;
        if self.substitutions > MAX_SUBSTITUTIONS {
            let wanted = self.substitutions as u64;
            let error = limit("variables in a value", wanted, MAX_SUBSTITUTIONS);
            return Err(text.locate(at, error).with_help("do variables double one another?"));
        }
        self.open.push(key);
        let value = self.resolve(value, owner)?;
        self.open.pop();
        if value.as_str().contains('\n') {
            let message = "Newline characters are not allowed in the value of a variable which is \
                           resolved using $varName$ feature";
            return Err(text
                .error(at, message.into())
                .with_help(format!("write the value of {name} in one line")));
        }
        Ok(value)
    }

    /// Counts the resulting bytes, so that variables that double their text come to an end.
    fn spend(&mut self, text: &Text, resolved: &Text) -> Result<()> {
        self.bytes = self.bytes.saturating_add(resolved.len());
        if self.bytes > 4 * MAX_BYTES {
            let error = limit("bytes of variables", self.bytes as u64, 4 * MAX_BYTES);
            return Err(text.locate(0, error).with_help("do variables double one another?"));
        }
        Ok(())
    }
}

/// The number of blanks and tabs before the rest of a line that a comment left.
fn indent(line: &str, kept: &str) -> usize {
    let visible = line.trim_start_matches([' ', '\t']);
    if kept.is_empty() || line.starts_with(kept) { 0 } else { line.len() - visible.len() }
}

#[cfg(test)]
mod tests {
    use super::super::super::Config;

    fn value(text: &str) -> Result<String, String> {
        let config = Config::parse("f", text).map_err(|error| error.to_string())?;
        config.text("v").map(Option::unwrap_or_default).map_err(|error| error.to_string())
    }

    #[test]
    fn puts_values_in() {
        let cases = [
            ("a=1\nv=$a$2$A$", "121"),
            ("v=$a$\na=$b$\nb=x", "x"),
            ("v=$1$ a$b $ x $", "$1$ a$b $ x $"),
            ("a=1\nv=$$a$", "$$a$"),
            ("a=1\nv=$2$a$", "$21"),
            ("a=1\nv=$a", "$a"),
            ("a=1\nv=$a/$a$", "$a/1"),
            ("a=\"\"\nv=x$a$y", "xy"),
            ("v=a#b", "a#b"),
            ("v=#b", ""),
            ("v=\"x\ny\"\nb=1", "x\ny\n"),
            ("v=\"x\n\"\nb=1", "x\n"),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn says_what_cannot_be_put_in() {
        let cases = [
            ("\nv=[\n$w$]", "f:3: CNTK configuration: No variable found with the name w. Parsing"),
            ("v=$v$", "f:1: CNTK configuration: the variable $v$ refers to itself"),
            ("a=$B$\nb=$a$\nv=$a$", "f:2: CNTK configuration: the variable $a$ refers to itself"),
            ("a=default\nv=$a$", "f:2: CNTK configuration: No variable found with the name a."),
            ("a=[\n]\nv=$a$", "f:3: CNTK configuration: Newline characters are not allowed"),
        ];
        for (text, expected) in cases {
            let error = value(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
            assert!(error.ends_with(')'), "no cure: {error}");
        }
    }

    #[test]
    fn doubling_comes_to_an_end() {
        let mut empty = String::from("v0=\"\"\n");
        let mut long = format!("v0={}\n", "x".repeat(1000));
        for i in 1..60 {
            let line = format!("v{i}=$v{0}$$v{0}$\n", i - 1);
            empty.push_str(&line);
            long.push_str(&line);
        }
        for text in [empty, long] {
            let error = value(&format!("{text}v=$v59$")).unwrap_err();
            assert!(error.contains("at most"), "{error}");
        }
    }
}
