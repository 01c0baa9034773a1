//! Reads PFiles, sentence by sentence.

use std::ffi::OsStr;
use std::ops::Range;

use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::{DataFile, Opener};

use super::decode::{check_numbers, columns};
use super::{HEADER_BYTES, Header, PFILE, table};

/// Bytes to read and decode at once: they stay in the processor's cache in between.
const PIECE: usize = 256 << 10;

/// An open PFile. Sentences are read in any order, from several threads at once.
///
/// It takes 8 bytes of memory a sentence. Compressed files, streams and commands are decoded once
/// into a temporary file.
#[derive(Debug)]
pub struct PFile {
    data: DataFile,
    header: Header,
    /// The number of frames before each sentence, and in all.
    starts: Vec<u64>,
    /// The sentence number in the first sentence's frames.
    first_number: u64,
}

impl PFile {
    /// Opens a PFile by any name that can be read.
    ///
    /// Without a sentence table, all frames are read to find the sentences.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, if its header is wrong, if it is shorter than its header
    /// says, or if its sentence table is invalid. Bytes after the table are ignored.
    pub fn open(name: &(impl AsRef<OsStr> + ?Sized), opener: &Opener) -> Result<Self> {
        Self::from_data(DataFile::decoded(&opener.rxfilename(name)?, opener)?)
    }

    /// A PFile from an open file.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_data(data: DataFile) -> Result<Self> {
        let mut bytes = vec![0; HEADER_BYTES];
        let count = data.read_at(&mut bytes, 0)?;
        let header = Header::parse(&bytes[..count]).map_err(|error| error.in_file(data.name()))?;
        let table_bytes = 4 * (header.sentences + 1);
        let end = match header.table {
            Some(table) => table.saturating_add(table_bytes),
            None => header.data_bytes(),
        };
        let end = end.saturating_add(HEADER_BYTES as u64);
        if data.len() < end {
            let cut = data.len() < HEADER_BYTES as u64 + header.data_bytes();
            let inside = if cut { "the frames" } else { "the sentence table" };
            let problem = Problem::UnexpectedEnd { inside, missing: Some(end - data.len()) };
            return Err(Error::format(PFILE, problem).in_file(data.name()).at_byte(data.len()));
        }
        let starts = table::starts(&data, &header)?;
        Ok(Self { data, header, starts, first_number: 0 })
    }

    /// Accepts any number of the first sentence, where QuickNet wants 0. The others must follow it.
    /// PDNN ignores all numbers.
    ///
    /// # Errors
    ///
    /// Fails if the first frame cannot be read.
    pub fn numbered_as_found(mut self) -> Result<Self> {
        if self.frames() > 0 {
            let mut number = [0; 4];
            self.data.read_exact_at(&mut number, HEADER_BYTES as u64, "frames")?;
            let before = self.starts.iter().filter(|&&start| start == 0).count() as u32 - 1;
            self.first_number = u32::from_be_bytes(number).wrapping_sub(before).into();
        }
        Ok(self)
    }

    /// The sentence number in the frames of the first sentence: 0, unless taken from the file.
    #[must_use]
    pub fn first_number(&self) -> u64 {
        self.first_number
    }

    /// The name by which it was opened.
    #[must_use]
    pub fn name(&self) -> &str {
        self.data.name()
    }

    /// What its header says.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Number of sentences.
    #[must_use]
    pub fn sentences(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of frames in all.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.header.frames
    }

    /// Bytes decoded into a temporary file.
    #[must_use]
    pub fn spooled_bytes(&self) -> u64 {
        self.data.spooled_bytes()
    }

    /// The frames of a sentence, numbered through the file.
    ///
    /// # Panics
    ///
    /// If there is no such sentence.
    #[must_use]
    pub fn sentence(&self, sentence: usize) -> Range<u64> {
        self.starts[sentence]..self.starts[sentence + 1]
    }

    /// Reads a sentence: its features, frame after frame, and its labels, frame after frame with
    /// all labels of a frame side by side. Old contents of the vectors are replaced.
    ///
    /// # Errors
    ///
    /// Fails with a usage error if there is no such sentence. Fails if the file cannot be read, or
    /// if a frame has another sentence's or another frame's number.
    pub fn read_sentence(
        &self,
        sentence: usize,
        features: &mut Vec<f32>,
        labels: &mut Vec<i32>,
    ) -> Result<()> {
        if sentence >= self.sentences() {
            let count = self.sentences();
            let message = format!("sentence {sentence} of {count} (they are counted from 0)");
            return Err(Error::usage(message).in_file(self.name()));
        }
        let frames = self.sentence(sentence);
        let count = (frames.end - frames.start) as usize;
        // The file is known to hold all frames.
        features.resize(count * self.header.features, 0.0);
        labels.resize(count * self.header.labels, 0);
        let features: &mut [u32] = bytemuck::cast_slice_mut(features);
        let labels: &mut [u32] = bytemuck::cast_slice_mut(labels);
        let header = &self.header;
        let frame_bytes = header.frame_bytes();
        self.pieces(sentence, 0, &mut Window::default(), |done, piece| {
            columns(
                piece,
                frame_bytes,
                header.feature_bytes(),
                &mut features[done * header.features..],
            );
            columns(piece, frame_bytes, header.label_bytes(), &mut labels[done * header.labels..]);
        })
    }

    /// Checks the sentence and frame numbers of all frames.
    ///
    /// # Errors
    ///
    /// As [`read_sentence`](Self::read_sentence), for the first frame that is wrong.
    pub fn verify(&self) -> Result<()> {
        let mut window = Window::default();
        (0..self.sentences())
            .try_for_each(|sentence| self.pieces(sentence, self.frames(), &mut window, |_, _| ()))
    }

    /// The most bytes to read at once.
    pub(super) fn piece_bytes(&self) -> u64 {
        let frame_bytes = self.header.frame_bytes() as u64;
        (PIECE as u64).max(frame_bytes).min(self.frames().saturating_mul(frame_bytes))
    }

    /// Reads the frames of a sentence in parts, and checks their numbers. `each` gets each part
    /// with the number of frames before it. Frames up to `ahead` will be read next, so they are
    /// read together.
    pub(super) fn pieces(
        &self,
        sentence: usize,
        ahead: u64,
        window: &mut Window,
        mut take: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        let frame_bytes = self.header.frame_bytes();
        let frames = self.sentence(sentence);
        let mut frame = frames.start;
        while frame < frames.end {
            if !window.frames.contains(&frame) {
                let count =
                    (ahead.max(frames.end) - frame).min((PIECE / frame_bytes).max(1) as u64);
                let len = count as usize * frame_bytes;
                window.bytes.resize(window.bytes.len().max(len), 0);
                let offset = HEADER_BYTES as u64 + frame * frame_bytes as u64;
                window.frames = 0..0;
                self.data.read_exact_at(&mut window.bytes[..len], offset, "frames")?;
                window.frames = frame..frame + count;
            }
            let end = frames.end.min(window.frames.end);
            let at = |frame: u64| (frame - window.frames.start) as usize * frame_bytes;
            let piece = &window.bytes[at(frame)..at(end)];
            let done = frame - frames.start;
            let number = self.first_number + sentence as u64;
            check_numbers(&self.header, piece, number, done).map_err(|misplaced| {
                let frame = frame + misplaced.frame as u64;
                let byte = HEADER_BYTES as u64 + frame * frame_bytes as u64;
                misplaced.error().in_file(self.name()).at_byte(byte)
            })?;
            take(done as usize, piece);
            frame = end;
        }
        Ok(())
    }
}

/// Frames that were read, possibly of several sentences.
#[derive(Default)]
pub(super) struct Window {
    bytes: Vec<u8>,
    frames: Range<u64>,
}
