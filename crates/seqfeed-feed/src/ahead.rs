//! Memory asked for ahead of time.

/// Bytes that come from memory together.
const LINE: usize = 64;
/// More than this is not asked for: reading it in order is fast by itself.
const MOST: usize = 2048;

/// Asks the processor for memory that will be read soon. The rows of a shuffled minibatch lie
/// anywhere, and a processor that meets them one by one waits for each.
#[inline(always)]
pub(crate) fn ask_for(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        // Rows begin anywhere in a line: the last byte may lie in one more.
        let bytes = &bytes[..bytes.len().min(MOST)];
        bytes.iter().step_by(LINE).chain(bytes.last()).for_each(safe_arch::prefetch_t0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, LINE, MOST);
}
