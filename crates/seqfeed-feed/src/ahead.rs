//! Requests for memory ahead of time.

/// Bytes that the processor loads together: a cache line.
const LINE: usize = 64;
/// Further bytes are not requested: reading them in order is fast by itself.
const MOST: usize = 2048;

/// Asks the processor for memory that will be read soon. The rows of a shuffled minibatch lie
/// anywhere. A processor that meets them one by one waits for each.
#[inline(always)]
pub(crate) fn ask_for(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        // A row may begin anywhere in a cache line, so its last byte may lie in one more line.
        let bytes = &bytes[..bytes.len().min(MOST)];
        bytes.iter().step_by(LINE).chain(bytes.last()).for_each(safe_arch::prefetch_t0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, LINE, MOST);
}
