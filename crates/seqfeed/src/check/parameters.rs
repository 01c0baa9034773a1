//! HTK's parameter files: checksums, and headers that promise something else than is there.

use seqfeed_core::{Error, Result};
use seqfeed_htk::source::HtkSource;

use super::{Finding, Severity};

/// Reads all files of a source once more, for their checksums.
pub(super) fn check(stream: &str, files: &HtkSource, found: &mut Vec<Finding>) -> Result<()> {
    for number in 0..files.file_count() as u32 {
        match files.verify_file(number) {
            Ok((name, warnings)) => found.extend(warnings.iter().map(|warning| {
                Finding::new(Severity::Warning, "header", warning.to_string())
                    .stream(stream)
                    .at(&name)
            })),
            Err(error) => {
                let damage = error.damage()?;
                found.push(Finding::of_error(kind(&damage), Some(stream), &damage));
            }
        }
    }
    Ok(())
}

fn kind(error: &Error) -> &'static str {
    if error.message().contains("checksum") { "checksum" } else { "unreadable" }
}
