//! Large memory for samples, on huge pages where the system gives them.

use memmap2::{MmapMut, MmapOptions};

/// Smaller memory comes from the allocator.
const MAPPED_FROM: usize = 1 << 20;

/// The size of a huge page. A mapping begins on a huge page if its size is a multiple of this;
/// otherwise only by chance.
const HUGE_PAGE: usize = 2 << 20;

/// Memory for samples that is read at random places.
///
/// A shuffled minibatch touches a different page for nearly every row. With pages of 4 KiB, finding
/// them costs a third of the time of the copy itself. So large arenas are anonymous mappings, and
/// the kernel is asked for huge pages. If it has none, nothing is lost.
pub(crate) enum Arena {
    /// A mapping, and the number of its bytes that are used.
    Mapped(MmapMut, usize),
    /// `u64` for the alignment.
    Heap(Vec<u64>),
}

impl Default for Arena {
    fn default() -> Self {
        Arena::Heap(Vec::new())
    }
}

impl Arena {
    pub(crate) fn len(&self) -> usize {
        self.bytes().len()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Arena::Mapped(map, len) => &map[..*len],
            Arena::Heap(words) => bytemuck::cast_slice(words),
        }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Arena::Mapped(map, len) => &mut map[..*len],
            Arena::Heap(words) => bytemuck::cast_slice_mut(words),
        }
    }

    /// Makes the arena at least `len` bytes long, and keeps the first `keep` bytes.
    pub(crate) fn grow(&mut self, len: usize, keep: usize) {
        if len <= self.len() {
            return;
        }
        // A mapping ends with a whole page: chunks of nearly one size take turns in one memory.
        if let Arena::Mapped(map, used) = self
            && len <= map.len()
        {
            *used = len;
            return;
        }
        if keep == 0 {
            // The old and the new memory are never held at once.
            *self = Self::default();
        }
        let mut grown = Self::new(len);
        grown.bytes_mut()[..keep].copy_from_slice(&self.bytes()[..keep]);
        *self = grown;
    }

    fn new(len: usize) -> Self {
        if len >= MAPPED_FROM
            && let Ok(map) = MmapOptions::new().len(len.next_multiple_of(HUGE_PAGE)).map_anon()
        {
            // This is only advice: an old kernel may refuse it. The last page is left out if most
            // of it is unused.
            #[cfg(target_os = "linux")]
            let _ = {
                let advised = (len + HUGE_PAGE / 2) / HUGE_PAGE * HUGE_PAGE;
                map.advise_range(memmap2::Advice::HugePage, 0, advised)
            };
            return Arena::Mapped(map, len);
        }
        Arena::Heap(vec![0; len.div_ceil(8)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_and_keeps_what_it_holds() {
        let mut arena = Arena::default();
        arena.grow(10, 0);
        arena.bytes_mut()[..10].copy_from_slice(b"0123456789");
        arena.grow(3 << 20, 10);
        assert!(matches!(arena, Arena::Mapped(..)) && arena.len() >= 3 << 20);
        assert_eq!(&arena.bytes()[..10], b"0123456789");
        arena.grow(5, 0);
        assert!(arena.len() >= 3 << 20);
        let memory = arena.bytes().as_ptr();
        arena.grow((3 << 20) + 9, 0);
        assert_eq!((arena.bytes().as_ptr(), arena.len()), (memory, (3 << 20) + 9));
    }
}
