//! Byte strings with the alignment of eight-byte values.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::sync::Arc;

use seqfeed_io::Input;

/// Bytes that are aligned for numbers of eight bytes, so that an array can use them as values.
///
/// A clone shares them.
#[derive(Clone, Default)]
pub struct Bytes(Arc<Words>);

#[derive(Clone, Default)]
struct Words {
    words: Vec<u64>,
    len: usize,
}

/// The first memory for data of unknown length.
const FIRST_STEP: usize = 1 << 20;

/// Memory grows by a sixteenth. An announced length may be false, so little memory must be wasted.
const STEP_DIVISOR: usize = 16;

impl Bytes {
    /// The bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        self.0.as_slice()
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// The bytes, to change them. They are copied first if they are shared.
    pub(super) fn make_mut(&mut self) -> &mut [u8] {
        let words = Arc::make_mut(&mut self.0);
        let len = words.len;
        &mut words.all_mut()[..len]
    }

    /// Cuts the bytes to `len` and gives memory back, or fills up with zeros.
    pub(super) fn resize(&mut self, len: usize) {
        let Words { words, len: old } = Arc::make_mut(&mut self.0);
        let count = len.div_ceil(8);
        // Exactly this many: then the system moves large memory, and does not copy it.
        words.reserve_exact(count.saturating_sub(words.len()));
        words.resize(count, 0);
        words.shrink_to_fit();
        *old = len;
    }
}

impl Words {
    fn as_slice(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }

    fn all_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words)
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        let mut builder = BytesBuilder::default();
        builder.push(bytes);
        builder.finish()
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_slice() {
            bytes if bytes.len() <= 32 => write!(f, "b\"{}\"", bytes.escape_ascii()),
            bytes => write!(f, "b\"{}...\" ({} bytes)", bytes[..32].escape_ascii(), bytes.len()),
        }
    }
}

/// Bytes that are being read: memory grows with the data.
#[derive(Default)]
pub(super) struct BytesBuilder(Words);

impl BytesBuilder {
    /// Room for `len` bytes from the start, for a length that is known to be true.
    pub(super) fn with_capacity(len: usize) -> Self {
        // Zeroed memory of this size comes from the system untouched.
        Self(Words { words: vec![0; len.div_ceil(8)], len: 0 })
    }

    pub(super) fn len(&self) -> usize {
        self.0.len
    }

    /// At least `room` bytes after the present ones, to fill.
    pub(super) fn spare(&mut self, room: usize) -> &mut [u8] {
        let needed = self.0.len + room;
        let have = self.0.words.len() * 8;
        if needed > have {
            let grown = needed.max(have + have / STEP_DIVISOR).max(64).div_ceil(8);
            self.0.words.reserve_exact(grown - self.0.words.len());
            self.0.words.resize(grown, 0);
        }
        let len = self.0.len;
        &mut self.0.all_mut()[len..]
    }

    /// Adds `count` filled bytes.
    pub(super) fn advance(&mut self, count: usize) {
        self.0.len += count;
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.spare(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.advance(bytes.len());
    }

    pub(super) fn finish(mut self) -> Bytes {
        let words = self.0.len.div_ceil(8);
        self.0.words.truncate(words);
        if self.0.words.capacity() - words > words / STEP_DIVISOR {
            self.0.words.shrink_to_fit();
        }
        Bytes(Arc::new(self.0))
    }
}

/// The number of the `len` announced bytes for which memory may be taken at once.
pub(super) fn trusted(input: &mut Input, len: u64) -> usize {
    trusted_of(input.remaining(len), len)
}

/// The same, with the number of remaining bytes if it is known.
fn trusted_of(remaining: Option<u64>, len: u64) -> usize {
    let known = remaining.unwrap_or(FIRST_STEP as u64);
    usize::try_from(len.min(known)).unwrap_or(FIRST_STEP)
}

/// Reads `len` bytes into memory of their own; fewer only at the end of the stream.
pub(super) fn read(input: &mut Input, len: u64) -> io::Result<Bytes> {
    let remaining = input.remaining(len);
    read_from(input, remaining, len)
}

/// The same from any reader, with the number of its remaining bytes if it is known.
pub(super) fn read_from(
    input: &mut impl Read,
    remaining: Option<u64>,
    len: u64,
) -> io::Result<Bytes> {
    let mut builder = BytesBuilder::with_capacity(trusted_of(remaining, len));
    loop {
        let left = len - builder.len() as u64;
        if left == 0 {
            break;
        }
        let have = builder.0.words.len() * 8 - builder.len();
        let step = if have > 0 { have } else { (builder.len() / STEP_DIVISOR).max(FIRST_STEP) };
        let step = usize::try_from(left).unwrap_or(step).min(step);
        let count = match input.read(&mut builder.spare(step)[..step]) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if count == 0 {
            break;
        }
        builder.advance(count);
    }
    Ok(builder.finish())
}

/// The buffered part of the next `len` bytes; empty only at the end.
pub(super) fn buffered(input: &mut Input, len: u64) -> io::Result<&[u8]> {
    let bytes = input.fill_buf()?;
    let count = usize::try_from(len).unwrap_or(usize::MAX).min(bytes.len());
    Ok(&bytes[..count])
}
