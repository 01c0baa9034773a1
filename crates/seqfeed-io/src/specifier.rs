//! Recognises Kaldi's table specifiers (`ark:..`, `scp,p:..`).
//!
//! Only names need this. A specifier in place of a file name is a mistake with an error of its own,
//! and Kaldi refuses it too. The Kaldi crate parses specifiers.

/// Whether Kaldi's `ClassifyRxfilename` and `ClassifyWxfilename` take a text for a specifier: it
/// begins like one, and is valid for reading or for writing.
///
/// `t,ark:x` is a valid specifier, but it begins in another way. As in Kaldi, it counts as a file
/// name.
pub(crate) fn looks_like_specifier(text: &[u8]) -> bool {
    let Some(colon) = text.iter().position(|&byte| byte == b':') else { return false };
    // Text that is not UTF-8 is no list of options.
    let Ok(options) = std::str::from_utf8(&text[..colon]) else { return false };
    let rest = &text[colon + 1..];
    options.starts_with(['a', 's']) && (is_for_reading(options) || is_for_writing(options, rest))
}

fn words(options: &str) -> impl Iterator<Item = &str> {
    options.split([',', ' '])
}

fn is_for_reading(options: &str) -> bool {
    const OPTIONS: [&str; 11] = ["b", "t", "o", "no", "p", "np", "s", "ns", "cs", "ncs", "bg"];
    let mut tables = 0;
    for word in words(options) {
        match word {
            "ark" | "scp" => tables += 1,
            _ if OPTIONS.contains(&word) => {}
            _ => return false,
        }
    }
    tables == 1
}

fn is_for_writing(options: &str, rest: &[u8]) -> bool {
    const OPTIONS: [&str; 5] = ["b", "t", "f", "nf", "p"];
    let (mut archive, mut script) = (false, false);
    for word in words(options) {
        match word {
            "ark" if !archive && !script => archive = true,
            "scp" if !script => script = true,
            _ if OPTIONS.contains(&word) => {}
            _ => return false,
        }
    }
    // An archive and a script file together need two names.
    if archive && script { rest.contains(&b',') } else { archive || script }
}
