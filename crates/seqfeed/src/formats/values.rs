//! Values of blocks as numbers. They are copied only if they are not aligned.

use bytemuck::{AnyBitPattern, NoUninit};

/// The values of one sequence. The memory is used again for the next one.
#[derive(Debug, Default)]
pub(crate) struct Values<T>(Vec<T>);

impl<T: AnyBitPattern + NoUninit> Values<T> {
    /// The values in bytes of the machine's order.
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
