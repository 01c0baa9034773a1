//! Writes features and labels in parts.

use std::io::{self, Write};

use seqfeed_core::{Element, Error, ErrorKind, Problem, Result};
use seqfeed_io::{CompressedOutput, Opener, Spool, WxFilename};

use super::npy::header;
use super::writer::{
    ARRAY_END, PAIR_END, begin, begin_array, begin_bytes, begin_text, end_text, push_text,
};
use super::{Dtype, Number, Protocol};

/// The container for features and labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// A pickled tuple of two arrays, or a pickle of the features alone.
    Pickle(Protocol),
    /// One `.npy` file with the features alone.
    Npy,
    /// An uncompressed `.npz` file: `features`, and `labels` if there are any.
    #[cfg(feature = "npz")]
    Npz,
}

/// The arrays to write. Their headers stand before the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArraysLayout {
    /// Number of samples.
    pub rows: u64,
    /// Values of a sample.
    pub dim: usize,
    /// Their type, one of floats.
    pub element: Element,
    /// Whether there are labels: int32, one for each sample.
    pub labels: bool,
}

/// Writes features and labels that come in parts. One part is in memory.
///
/// Labels stand after the features, and wait for these in a temporary file. In a pickle of protocol
/// 2 the features wait too, since their length as text stands before them. [`finish`](Self::finish)
/// makes the file appear under its name.
pub struct ArraysWriter {
    out: Out,
    layout: ArraysLayout,
    container: Container,
    rows: u64,
    /// Features for protocol 2, and the number of their bytes that take two as text.
    features: Option<(Spool, u64)>,
    labels: Option<(Spool, u64)>,
}

enum Out {
    Stream(CompressedOutput),
    #[cfg(feature = "npz")]
    Zip(Box<zip::ZipWriter<zip::write::StreamWriter<CompressedOutput>>>, String),
}

/// Bytes to read back at once.
const PIECE: usize = 64 << 10;

/// The name of the format in messages.
const ARRAYS: &str = "features and labels";

impl ArraysWriter {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// Fails if no file with this name can be made, for labels with a `.npy` file, and for a `.npz`
    /// file that is to be compressed as a whole.
    pub fn create(
        name: &WxFilename,
        container: Container,
        layout: ArraysLayout,
        opener: &Opener,
    ) -> Result<Self> {
        if container == Container::Npy && layout.labels {
            return Err(Error::usage("a .npy file holds one array: features, and no labels")
                .in_file(name.to_string())
                .with_help("write a .npz file or a pickle"));
        }
        let mut output = CompressedOutput::create(name, opener)?;
        let shape = [layout.rows, layout.dim as u64];
        let mut start = Vec::new();
        let mut features = None;
        let out = match container {
            Container::Pickle(protocol) => {
                start.extend(begin(protocol));
                begin_array(&mut start, &shape, layout.dtype(), false);
                match protocol {
                    Protocol::Two => features = Some((Spool::new()?, 0)),
                    Protocol::Five => begin_bytes(&mut start, layout.feature_bytes()),
                }
                output.write_all(&start).map_err(|error| output.error(error))?;
                Out::Stream(output)
            }
            Container::Npy => {
                start = header(&shape, layout.dtype(), false);
                output.write_all(&start).map_err(|error| output.error(error))?;
                Out::Stream(output)
            }
            #[cfg(feature = "npz")]
            Container::Npz => {
                let name = output.name().to_owned();
                let mut out = Out::Zip(Box::new(zip::ZipWriter::new_stream(output)), name);
                let start = header(&shape, layout.dtype(), false);
                out.member("features.npy", start.len() as u64 + layout.feature_bytes())?;
                out.write(&start)?;
                out
            }
        };
        let labels = if layout.labels { Some((Spool::new()?, 0)) } else { None };
        Ok(Self { out, layout, container, rows: 0, features, labels })
    }

    /// Writes samples: features in the machine's byte order, row after row, and a label for each
    /// (empty if there are no labels).
    ///
    /// # Errors
    ///
    /// Fails if these are not whole samples, if features and labels differ in number, if there are
    /// more than announced, or if writing fails.
    pub fn write(&mut self, features: &[u8], labels: &[i32]) -> Result<()> {
        let row = self.layout.dim * self.layout.element.size();
        let rows = (features.len() / row.max(1)) as u64;
        let labelled = if self.layout.labels { labels.len() as u64 } else { rows };
        if !features.len().is_multiple_of(row.max(1)) || labelled != rows {
            let what = "labels, one for each sample";
            let problem = Problem::CountMismatch { what, expected: rows, found: labelled };
            return Err(Error::format(ARRAYS, problem));
        }
        self.rows += rows;
        if self.rows > self.layout.rows {
            return Err(self.count());
        }
        match &mut self.features {
            Some((spool, high)) => {
                *high += high_bytes(features);
                spool.write_all(features)?;
            }
            None => self.out.write(features)?,
        }
        if let Some((spool, high)) = &mut self.labels {
            let bytes = bytemuck::cast_slice(labels);
            *high += high_bytes(bytes);
            spool.write_all(bytes)?;
        }
        Ok(())
    }

    fn count(&self) -> Error {
        let (expected, found) = (self.layout.rows, self.rows);
        Error::format(ARRAYS, Problem::CountMismatch { what: "samples", expected, found })
    }

    /// Ends the file, which then appears. Returns its number of bytes.
    ///
    /// # Errors
    ///
    /// Fails if fewer samples came than were announced, if an array is too long for the protocol,
    /// or if writing fails.
    pub fn finish(mut self) -> Result<u64> {
        if self.rows != self.layout.rows {
            return Err(self.count());
        }
        if let Some((spool, high)) = self.features.take() {
            self.out.text(spool, high)?;
        }
        let shape = [self.layout.rows];
        let dtype = Dtype::native(Number::I32);
        let labels = self.labels.take();
        match (self.container, labels) {
            (Container::Pickle(protocol), labels) => {
                self.out.write(ARRAY_END)?;
                match labels {
                    None => self.out.write(b".")?,
                    Some((spool, high)) => {
                        let mut start = Vec::new();
                        begin_array(&mut start, &shape, dtype, false);
                        if protocol == Protocol::Five {
                            begin_bytes(&mut start, spool.position());
                        }
                        self.out.write(&start)?;
                        match protocol {
                            Protocol::Two => self.out.text(spool, high)?,
                            Protocol::Five => self.out.spooled(spool)?,
                        }
                        self.out.write(ARRAY_END)?;
                        self.out.write(PAIR_END)?;
                    }
                }
            }
            #[cfg(feature = "npz")]
            (Container::Npz, Some((spool, _))) => {
                let start = header(&shape, dtype, false);
                self.out.member("labels.npy", start.len() as u64 + spool.position())?;
                self.out.write(&start)?;
                self.out.spooled(spool)?;
            }
            _ => {}
        }
        self.out.finish()
    }
}

impl ArraysLayout {
    fn dtype(&self) -> Dtype {
        Dtype::native(match self.element {
            Element::F64 => Number::F64,
            Element::I32 => Number::I32,
            _ => Number::F32,
        })
    }

    fn feature_bytes(&self) -> u64 {
        self.rows.saturating_mul((self.dim * self.element.size()) as u64)
    }
}

/// The number of bytes that take two as text in UTF-8.
fn high_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(byte >> 7)).sum()
}

impl Out {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Stream(output) => output.write_all(bytes).map_err(|error| output.error(error)),
            #[cfg(feature = "npz")]
            Self::Zip(archive, name) => {
                archive.write_all(bytes).map_err(|error| failed(error, name))
            }
        }
    }

    #[cfg(feature = "npz")]
    fn member(&mut self, member: &str, bytes: u64) -> Result<()> {
        let Self::Zip(archive, name) = self else { return Ok(()) };
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            .large_file(bytes >= u32::MAX.into());
        archive.start_file(member, options).map_err(|error| failed(io::Error::other(error), name))
    }

    /// Copies data that waited in a temporary file.
    fn spooled(&mut self, spool: Spool) -> Result<()> {
        let data = spool.into_data_file()?;
        let mut piece = vec![0; PIECE];
        let mut offset = 0;
        while offset < data.len() {
            let count = PIECE.min((data.len() - offset) as usize);
            data.read_exact_at(&mut piece[..count], offset, "spooled values")?;
            self.write(&piece[..count])?;
            offset += count as u64;
        }
        Ok(())
    }

    /// Copies data that waited in a temporary file, as text of protocol 2.
    fn text(&mut self, spool: Spool, high: u64) -> Result<()> {
        let wanted = spool.position() + high;
        let Ok(len) = u32::try_from(wanted) else {
            let (what, limit) = ("bytes of an array as text (protocol 2)", u32::MAX.into());
            return Err(Error::new(ErrorKind::Limit { what, wanted, limit })
                .with_help("write protocol 5, or several files"));
        };
        let mut out = Vec::with_capacity(2 * PIECE);
        begin_text(&mut out, len);
        self.write(&out)?;
        let data = spool.into_data_file()?;
        let mut piece = vec![0; PIECE];
        let mut offset = 0;
        while offset < data.len() {
            let count = PIECE.min((data.len() - offset) as usize);
            data.read_exact_at(&mut piece[..count], offset, "spooled values")?;
            out.clear();
            push_text(&mut out, &piece[..count]);
            self.write(&out)?;
            offset += count as u64;
        }
        out.clear();
        end_text(&mut out);
        self.write(&out)
    }

    fn finish(self) -> Result<u64> {
        let output = match self {
            Self::Stream(output) => output,
            #[cfg(feature = "npz")]
            Self::Zip(archive, name) => {
                let stream =
                    archive.finish().map_err(|error| failed(io::Error::other(error), &name))?;
                stream.into_inner()
            }
        };
        let output = output.into_output()?;
        let bytes = output.written();
        output.finish().map(|()| bytes)
    }
}

#[cfg(feature = "npz")]
fn failed(error: io::Error, name: &str) -> Error {
    Error::io("writing", error).in_file(name)
}

impl std::fmt::Debug for ArraysWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArraysWriter").field("layout", &self.layout).finish_non_exhaustive()
    }
}
