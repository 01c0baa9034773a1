//! Bytes as numbers.

use std::borrow::Cow;

use bytemuck::Pod;

/// Bytes as the numbers that they hold. They are copied if they are not aligned (in a mapped file).
///
/// # Panics
///
/// If the bytes end within a number.
#[must_use]
pub fn numbers<T: Pod>(bytes: &[u8]) -> Cow<'_, [T]> {
    match bytemuck::try_cast_slice(bytes) {
        Ok(numbers) => Cow::Borrowed(numbers),
        Err(_) => Cow::Owned(bytemuck::pod_collect_to_vec(bytes)),
    }
}
