//! Writes PFiles in QuickNet's form.

use std::io::Write;

use seqfeed_core::{Error, ErrorKind, Result};
use seqfeed_io::{Opener, Output, Spool, WxFilename};

use super::{HEADER_BYTES, Header};

/// The contents of the frames of a PFile to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PFileLayout {
    /// Number of features, 0 or more.
    pub features: usize,
    /// Number of labels, 0 or more.
    pub labels: usize,
}

/// Writes a PFile, sentence by sentence, byte for byte the same as QuickNet.
///
/// It takes 4 bytes of memory a sentence. [`finish`](Self::finish) makes the file appear under its
/// name. If the header cannot be filled in at the end (pipes), frames wait in a temporary file.
#[derive(Debug)]
pub struct PFileWriter {
    output: Output,
    /// Frames for an output that cannot go back.
    waiting: Option<Spool>,
    layout: PFileLayout,
    /// The number of frames before each sentence.
    starts: Vec<u32>,
    frames: u64,
    /// The records of one part.
    records: Vec<u8>,
}

/// The approximate number of bytes to write at once.
const PIECE: usize = 256 << 10;

/// The sentence table holds frame numbers as `i32`.
const MOST_FRAMES: u64 = i32::MAX as u64;

impl PFileWriter {
    /// Begins a PFile.
    ///
    /// # Errors
    ///
    /// Fails if no file with this name can be made, or if the layout has too many columns for a
    /// header.
    pub fn create(name: &WxFilename, layout: PFileLayout, opener: &Opener) -> Result<Self> {
        // This is checked before all data are written. Each number has at most 20 digits.
        if layout.features.saturating_add(layout.labels) > HEADER_BYTES {
            let wanted = layout.features.saturating_add(layout.labels) as u64;
            let what = "columns of a PFile, whose header has one letter for each";
            return Err(Error::new(ErrorKind::Limit {
                what,
                wanted,
                limit: HEADER_BYTES as u64 - 600,
            }));
        }
        Header::new(MOST_FRAMES, MOST_FRAMES, layout.features, layout.labels).to_bytes()?;
        let mut output = Output::create(name, opener)?;
        let mut waiting = None;
        if output.can_write_over() {
            output.write_all(&[0; HEADER_BYTES]).map_err(|error| output.error(error))?;
        } else {
            waiting = Some(Spool::new()?);
        }
        Ok(Self { output, waiting, layout, starts: Vec::new(), frames: 0, records: Vec::new() })
    }

    /// Writes a sentence: features and labels, each frame after frame, with all labels of a frame
    /// side by side.
    ///
    /// # Errors
    ///
    /// Fails with a usage error if these are not whole frames, if their numbers of frames differ,
    /// or if there are none (a PFile cannot hold an empty sentence). Fails with a limit after 2^31
    /// - 1 frames, and if writing fails.
    pub fn write_sentence(&mut self, features: &[f32], labels: &[i32]) -> Result<()> {
        let PFileLayout { features: width, labels: label_width } = self.layout;
        let sentence = self.starts.len();
        let refuse = |what: String| {
            Err(Error::usage(format!("sentence {sentence}: {what}")).in_file(self.output.name()))
        };
        let count = match (features.len().checked_div(width), labels.len().checked_div(label_width))
        {
            (Some(frames), _) | (None, Some(frames)) => frames,
            (None, None) => 0,
        };
        if features.len() != count * width || labels.len() != count * label_width {
            return refuse(format!(
                "{} features and {} labels are not frames of {width} and {label_width}",
                features.len(),
                labels.len(),
            ));
        }
        if count == 0 {
            return refuse("there are no frames; a PFile cannot hold an empty sentence".to_owned());
        }
        let frames = self.frames + count as u64;
        if frames > MOST_FRAMES {
            return Err(Error::new(ErrorKind::Limit {
                what: "frames of a PFile",
                wanted: frames,
                limit: MOST_FRAMES,
            })
            .in_file(self.output.name())
            .with_help("write several PFiles"));
        }
        let start = self.frames as u32;
        let columns = 2 + width + label_width;
        let frames_a_piece = (PIECE / (4 * columns)).max(1);
        let mut frame = 0;
        while frame < count {
            let end = count.min(frame + frames_a_piece);
            self.records.clear();
            for frame in frame..end {
                self.records.extend_from_slice(&(sentence as u32).to_be_bytes());
                self.records.extend_from_slice(&(frame as u32).to_be_bytes());
                let values = &features[frame * width..][..width];
                self.records.extend(values.iter().flat_map(|value| value.to_be_bytes()));
                let values = &labels[frame * label_width..][..label_width];
                self.records.extend(values.iter().flat_map(|value| value.to_be_bytes()));
            }
            match &mut self.waiting {
                Some(spool) => spool.write_all(&self.records)?,
                None => self
                    .output
                    .write_all(&self.records)
                    .map_err(|error| self.output.error(error))?,
            }
            frame = end;
        }
        self.starts.push(start);
        self.frames = frames;
        Ok(())
    }

    /// Writes the sentence table and the header. The file appears under its name. Returns its
    /// number of bytes.
    ///
    /// # Errors
    ///
    /// Fails if writing fails. The old file then stays.
    pub fn finish(self) -> Result<u64> {
        let Self { mut output, waiting, layout, mut starts, frames, .. } = self;
        let header =
            Header::new(starts.len() as u64, frames, layout.features, layout.labels).to_bytes()?;
        let mut write = |bytes: &[u8]| output.write_all(bytes).map_err(|error| output.error(error));
        if let Some(spool) = waiting {
            let data = spool.into_data_file()?;
            write(&header)?;
            let mut piece = vec![0; PIECE];
            let mut offset = 0;
            while offset < data.len() {
                let count = data.read_at(&mut piece, offset)?;
                if count == 0 {
                    let problem =
                        seqfeed_core::Problem::UnexpectedEnd { inside: "frames", missing: None };
                    return Err(Error::format("file", problem).in_file(data.name()));
                }
                write(&piece[..count])?;
                offset += count as u64;
            }
        }
        starts.push(frames as u32);
        for starts in starts.chunks(PIECE / 4) {
            let bytes: Vec<u8> = starts.iter().flat_map(|start| start.to_be_bytes()).collect();
            write(&bytes)?;
        }
        if output.can_write_over() {
            output.write_over(&header, 0)?;
        }
        let bytes = output.written();
        output.finish().map(|()| bytes)
    }
}
