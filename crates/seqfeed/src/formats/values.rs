//! Values of blocks as numbers, copied only where they do not lie as the machine wants them.

use bytemuck::{AnyBitPattern, NoUninit};

/// The values of one sequence: memory that is used again for the next.
#[derive(Debug, Default)]
pub(crate) struct Values<T>(Vec<T>);

impl<T: AnyBitPattern + NoUninit> Values<T> {
    /// The values that bytes in the machine's order stand for.
    pub(crate) fn of<'a>(&'a mut self, bytes: &'a [u8]) -> &'a [T] {
        match bytemuck::try_cast_slice(bytes) {
            Ok(values) => values,
            // A mapped file need not be aligned.
            Err(_) => {
                self.0.clear();
                self.0.extend(
                    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned::<T>),
                );
                &self.0
            }
        }
    }
}
