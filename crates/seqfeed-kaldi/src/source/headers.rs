//! Reads the headers of many objects with few calls of the system.

use seqfeed_core::Result;
use seqfeed_io::DataFile;

use super::header::LONGEST_HEADER;

/// The bytes that are read for a header reach to the end of its page: a system reads whole pages
/// anyhow, and the headers of short objects lie near one another.
const PAGE: u64 = 4096;

/// The most files of which bytes are kept: script files often go from file to file in turn.
const WINDOWS: usize = 16;

/// Bytes of files around the headers that were read last.
#[derive(Default)]
pub(crate) struct Headers {
    windows: Vec<Window>,
    /// The window that is used again for the next file.
    oldest: usize,
}

struct Window {
    file: u32,
    start: u64,
    bytes: Vec<u8>,
}

impl Headers {
    /// Up to [`LONGEST_HEADER`] bytes of a file with this number; fewer only at its end.
    pub(crate) fn at(&mut self, number: u32, file: &DataFile, offset: u64) -> Result<&[u8]> {
        let at = match self.windows.iter().position(|window| window.file == number) {
            Some(at) => at,
            None if self.windows.len() < WINDOWS => {
                self.windows.push(Window { file: number, start: 0, bytes: Vec::new() });
                self.windows.len() - 1
            }
            None => {
                self.oldest = (self.oldest + 1) % WINDOWS;
                let window = &mut self.windows[self.oldest];
                window.file = number;
                window.bytes.clear();
                self.oldest
            }
        };
        let window = &mut self.windows[at];
        let end = window.start + window.bytes.len() as u64;
        if offset < window.start || offset + LONGEST_HEADER as u64 > end {
            let to_page_end = PAGE - offset % PAGE;
            let wanted = to_page_end.max(LONGEST_HEADER as u64) as usize;
            window.bytes.resize(wanted, 0);
            let read = file.read_at(&mut window.bytes, offset);
            window.bytes.truncate(*read.as_ref().unwrap_or(&0));
            window.start = offset;
            read?;
        }
        let from = (offset - window.start) as usize;
        Ok(&window.bytes[from..window.bytes.len().min(from + LONGEST_HEADER)])
    }
}
