//! Finds label files by name: in master label files, or as files of their own.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use seqfeed_core::{Error, ErrorKind, Problem, Result};
use seqfeed_io::{DataFile, LineLimit, Opener, shown_name};

use super::{Body, FORMAT, MlfIndex, MlfOptions, ParseOptions, Transcription, parse};
use crate::decoded::{FromStart, open_decoded};

/// Reads label files by name, as HTK does: from master label files, from the directories that these
/// name, or from the path in the name.
#[derive(Debug, Default)]
pub struct LabelFiles {
    index: MlfIndex,
    files: Vec<DataFile>,
    options: ParseOptions,
    directory: PathBuf,
}

impl LabelFiles {
    /// Label files without any master label file yet.
    #[must_use]
    pub fn new(options: ParseOptions, mlf: MlfOptions) -> Self {
        let options = ParseOptions { v1_compat: options.v1_compat || mlf.v1_compat, ..options };
        Self { index: MlfIndex::new(mlf), options, ..Self::default() }
    }

    /// The same, with relative names (of files and in redirections) resolved against a directory
    /// instead of the current one.
    #[must_use]
    pub fn relative_to(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = directory.into();
        self
    }

    /// Adds a master label file. It is read once for its [index](MlfIndex). A compressed one is
    /// copied into a temporary file.
    ///
    /// # Errors
    ///
    /// If it cannot be read or is not a master label file, as [`MlfIndex::add`].
    pub fn add_mlf(&mut self, path: &Path) -> Result<()> {
        let path = self.directory.join(path);
        let file = open_decoded(&path.into(), &Opener::default())?;
        let added = self.index.add(file.name(), FromStart::new(&file));
        self.files.push(file);
        added
    }

    /// The entries of the master label files.
    #[must_use]
    pub fn index(&self) -> &MlfIndex {
        &self.index
    }

    /// Reads a label file.
    ///
    /// The first matching entry with a transcription is used. If there is none, the file with this
    /// name is read.
    ///
    /// # Errors
    ///
    /// If there is neither an entry nor a file; or if it cannot be read, or is malformed.
    pub fn read(&self, label_file: &[u8]) -> Result<Transcription> {
        for id in self.index.find(label_file) {
            match self.index.entry(id).body {
                Body::Here { .. } => return self.read_entry(id),
                Body::Simple(directory) => {
                    if let Some(found) = self.read_if_there(&below(directory, label_file, 0))? {
                        return Ok(found);
                    }
                }
                Body::Full(directory) => {
                    let directories = memchr::memchr_iter(b'/', label_file).count();
                    for depth in 0..=directories {
                        if let Some(found) =
                            self.read_if_there(&below(directory, label_file, depth))?
                        {
                            return Ok(found);
                        }
                    }
                }
            }
        }
        let path = Path::new(OsStr::from_bytes(label_file));
        self.read_file(path).map_err(|error| {
            if error.is_not_found() {
                error.with_help("no entry of a master label file is for it either (HTK error 6510)")
            } else {
                error
            }
        })
    }

    /// Reads the transcription below the name of an entry.
    ///
    /// # Errors
    ///
    /// If it cannot be read or is malformed, or if the entry is a redirection.
    ///
    /// # Panics
    ///
    /// If there is no such entry.
    pub fn read_entry(&self, id: u32) -> Result<Transcription> {
        let entry = self.index.entry(id);
        let Body::Here { offset, bytes } = entry.body else {
            return Err(Error::usage("a redirection has no transcription of its own")
                .in_file(entry.file)
                .at_line(entry.line));
        };
        let file = &self.files[entry.file_number];
        let data = read_range(file, offset, bytes)?;
        let options =
            ParseOptions { dot_ends: true, first_line: entry.line + 1, ..self.options.clone() };
        parse(&data, &options)
            .map_err(|error| error.in_file(entry.file).of_key(seqfeed_core::Key(entry.name)))
    }

    fn read_if_there(&self, path: &Path) -> Result<Option<Transcription>> {
        match self.read_file(path) {
            Ok(found) => Ok(Some(found)),
            Err(error) if matches!(error.kind(), ErrorKind::Io { action: "opening", .. }) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn read_file(&self, path: &Path) -> Result<Transcription> {
        let path = self.directory.join(path);
        let opener = Opener::default().with_line_limit(self.index.line_limit());
        let data = opener.read_list(&path.as_path().into(), LineLimit::of_lines)?;
        // As soon as there are entries, a dot also ends label files outside of MLFs.
        let dot_ends = self.options.dot_ends || !self.index.is_empty();
        let options = ParseOptions { dot_ends, ..self.options.clone() };
        parse(&data, &options).map_err(|error| error.in_file(shown_name(&path)))
    }
}

/// The path of a label file below a directory, with the last `depth` of its own directories.
fn below(directory: &[u8], label_file: &[u8], depth: usize) -> PathBuf {
    let slash = memchr::memrchr_iter(b'/', label_file).nth(depth);
    let tail = &label_file[slash.map_or(0, |slash| slash + 1)..];
    let mut path = directory.to_vec();
    if !path.ends_with(b"/") && !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(tail);
    PathBuf::from(OsStr::from_bytes(&path).to_owned())
}

/// Bytes of a file that must exist.
fn read_range(file: &DataFile, offset: u64, bytes: u64) -> Result<Vec<u8>> {
    let there = file.len().saturating_sub(offset);
    let len = usize::try_from(bytes).ok().filter(|_| bytes <= there).ok_or_else(|| {
        let missing = Some(bytes.saturating_sub(there));
        let problem = Problem::UnexpectedEnd { inside: "a transcription", missing };
        Error::format(FORMAT, problem).in_file(file.name()).at_byte(offset)
    })?;
    let mut data = vec![0; len];
    file.read_exact_at(&mut data, offset, "a transcription")?;
    Ok(data)
}
