//! Scripts by CNTK's rules: one name a line.

use seqfeed_core::Result;

use super::entry::Spans;
use super::{name, unexpected};

/// Finds the lines of a script. Each is `logical=file[first,last]`, or with `whole_files` also
/// `logical=file` or `file`. Empty lines are skipped.
pub(super) fn parse(text: &[u8], whole_files: bool) -> Result<Vec<Spans>> {
    let mut entries = Vec::new();
    let mut start = 0;
    let mut line = 0_u32;
    while start < text.len() {
        line += 1;
        let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |len| start + len);
        let entry = &text[start..end];
        let entry = entry.strip_suffix(b"\r").unwrap_or(entry);
        if !entry.is_empty() {
            let spans = name::extended(start, entry, line)?;
            let help = "whole files, and names of their own, are read in HTK's style, and by CNTK with \
                        readMethod=rollingWindow of HTKMLFReader";
            let refuse = |expected| Err(unexpected(line, expected, entry).with_help(help));
            match spans.segment {
                None if whole_files => entries.push(spans),
                _ if spans.physical == 0 => return refuse("a logical name and a `=`"),
                None => return refuse("the first and the last frame, [first,last]"),
                Some(segment) if segment.len().is_none_or(|len| len == 0) => {
                    return refuse("a last frame that is not before the first");
                }
                Some(_) => entries.push(spans),
            }
        }
        start = end + 1;
    }
    Ok(entries)
}
