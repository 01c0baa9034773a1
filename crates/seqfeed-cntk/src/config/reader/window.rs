//! The randomization window, and its default.

use super::{Deserializer, ReadMethod, ReaderConfig, ReaderKind};

/// CNTK's number of samples for a window over the whole corpus.
pub const WHOLE_DATA: u64 = u64::MAX >> 2;

/// `randomize` as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Randomize {
    /// `true` or `auto`, the default.
    On,
    /// `false` or `none`.
    Off,
    /// A number of frames, in the readers of HTK files.
    Frames(u64),
}

/// The window of a shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// A number of samples ([`WHOLE_DATA`] for all of them).
    Samples(u64),
    /// A number of chunks.
    Chunks(u64),
}

impl ReaderConfig {
    /// The randomization window; `None` if nothing is shuffled.
    ///
    /// | reader | `randomizationWindow` given | not given |
    /// | --- | --- | --- |
    /// | composite | samples; chunks if `sampleBasedRandomizationWindow=false` | with a CTF deserializer 4 GiB of chunks, else [`WHOLE_DATA`] samples (chunks) |
    /// | CTF | chunks; samples if `sampleBasedRandomizationWindow=true`; 0 is off | 4 GiB of chunks; if sample based, [`WHOLE_DATA`] samples |
    /// | HTK | (not read) | `randomize` frames; [`WHOLE_DATA`] if `auto`, off if `none` or 0 |
    ///
    /// "4 GiB of chunks" is 4 GiB divided by `chunkSizeInBytes` of the *reader* section: 128 by
    /// default.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        if self.write {
            return None;
        }
        match self.kind {
            ReaderKind::Composite => self.composite_window(),
            ReaderKind::Ctf => self.ctf_window(),
            ReaderKind::HtkMlf | ReaderKind::HtkDeserializers => self.htk_window(),
        }
    }

    fn composite_window(&self) -> Option<Window> {
        if self.randomize == Randomize::Off {
            return None;
        }
        let has_ctf = self.deserializers.iter().any(|one| matches!(one, Deserializer::Ctf(_)));
        match (self.randomization_window, self.sample_based_randomization_window) {
            (Some(window), Some(false)) => Some(Window::Chunks(window)),
            (Some(window), _) => Some(Window::Samples(window)),
            (None, _) if has_ctf => Some(Window::Chunks(self.four_gib_of_chunks())),
            (None, Some(false)) => Some(Window::Chunks(WHOLE_DATA)),
            (None, _) => Some(Window::Samples(WHOLE_DATA)),
        }
    }

    fn ctf_window(&self) -> Option<Window> {
        let sample_based = self.sample_based_randomization_window == Some(true);
        let window = match self.randomization_window {
            Some(window) => window,
            None if sample_based => WHOLE_DATA,
            None => self.four_gib_of_chunks(),
        };
        let window_of = if sample_based { Window::Samples } else { Window::Chunks };
        (self.randomize != Randomize::Off && window > 0).then_some(window_of(window))
    }

    fn htk_window(&self) -> Option<Window> {
        if self.htk.as_ref().is_some_and(|htk| htk.read_method == ReadMethod::None) {
            return None;
        }
        match self.randomize {
            Randomize::Off | Randomize::Frames(0) => None,
            Randomize::On => Some(Window::Samples(WHOLE_DATA)),
            Randomize::Frames(frames) => Some(Window::Samples(frames)),
        }
    }

    fn four_gib_of_chunks(&self) -> u64 {
        (4 << 30) / self.chunk_size_in_bytes.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Config;
    use super::*;

    fn window(text: &str) -> Option<Window> {
        let config = Config::parse("f", text).unwrap();
        ReaderConfig::from_section(&config).unwrap().window()
    }

    #[test]
    fn of_composite_readers() {
        let ctf = "deserializers=([type=CNTKTextFormatDeserializer;file=f;input=[a=[dim=1;format=dense]]])";
        let htk = "deserializers=([type=HTKFeatureDeserializer;input=[a=[dim=1;scpFile=s]]])";
        let cases = [
            (ctf, "", Some(Window::Chunks(128))),
            (ctf, "chunkSizeInBytes=1048576", Some(Window::Chunks(4096))),
            (ctf, "sampleBasedRandomizationWindow=false", Some(Window::Chunks(128))),
            (ctf, "randomizationWindow=7", Some(Window::Samples(7))),
            (
                ctf,
                "randomizationWindow=7;sampleBasedRandomizationWindow=false",
                Some(Window::Chunks(7)),
            ),
            (ctf, "randomize=false", None),
            (ctf, "randomize=none", None),
            (ctf, "action=write", None),
            (htk, "", Some(Window::Samples(WHOLE_DATA))),
            (htk, "sampleBasedRandomizationWindow=false", Some(Window::Chunks(WHOLE_DATA))),
            (htk, "randomizationWindow=9", Some(Window::Samples(9))),
            (ctf, "randomizationWindowInChunks=3", Some(Window::Chunks(3))),
            (ctf, "randomizationWindowInSamples=3", Some(Window::Samples(3))),
            (ctf, "randomizationWindowInSamples=0;randomizationWindowInChunks=0", None),
        ];
        for (deserializers, options, expected) in cases {
            assert_eq!(window(&format!("{deserializers}\n{options}")), expected, "{options}");
        }
    }

    #[test]
    fn of_stand_alone_readers() {
        let ctf = "readerType=CNTKTextFormatReader;file=f;input=[a=[dim=1;format=dense]]";
        let htk = "readerType=HTKDeserializers;a=[dim=1;scpFile=s]";
        let cases = [
            (ctf, "", Some(Window::Chunks(128))),
            (ctf, "randomizationWindow=7", Some(Window::Chunks(7))),
            (ctf, "randomizationWindow=0", None),
            (
                ctf,
                "randomizationWindow=7;sampleBasedRandomizationWindow=true",
                Some(Window::Samples(7)),
            ),
            (ctf, "sampleBasedRandomizationWindow=true", Some(Window::Samples(WHOLE_DATA))),
            (ctf, "randomize=None", None),
            (ctf, "randomize=auto;chunkSizeInBytes=4294967297", None),
            (htk, "", Some(Window::Samples(WHOLE_DATA))),
            (htk, "randomize=60", Some(Window::Samples(60))),
            (htk, "randomize=none;readMethod=none", None),
            (htk, "readMethod=none", None),
        ];
        for (reader, options, expected) in cases {
            assert_eq!(window(&format!("{reader}\n{options}")), expected, "{options}");
        }
    }
}
