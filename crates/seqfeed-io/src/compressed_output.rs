//! Outputs that are compressed if their names say so.

use std::fmt;
use std::io::{self, Write};

#[cfg(feature = "gzip")]
use flate2::write::GzEncoder;
use seqfeed_core::{Error, Result};

use crate::{Opener, Output, WxFilename};

/// An [`Output`] that is compressed with gzip if its name ends with `.gz`.
pub struct CompressedOutput(Form);

enum Form {
    Plain(Output),
    // It is large, but there are few.
    #[cfg(feature = "gzip")]
    Gzip(Box<GzEncoder<Output>>),
}

impl CompressedOutput {
    /// Opens a name for writing.
    ///
    /// # Errors
    ///
    /// The same as [`Output::create`].
    pub fn create(name: &WxFilename, opener: &Opener) -> Result<Self> {
        let packs = name.location().extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
        #[cfg(not(feature = "gzip"))]
        if packs {
            return Err(crate::Compression::Gzip.left_out().in_file(name.to_string()));
        }
        let output = Output::create(name, opener)?;
        #[cfg(feature = "gzip")]
        if packs {
            let encoder = GzEncoder::new(output, flate2::Compression::default());
            return Ok(Self(Form::Gzip(Box::new(encoder))));
        }
        Ok(Self(Form::Plain(output)))
    }

    fn output(&self) -> &Output {
        match &self.0 {
            Form::Plain(output) => output,
            #[cfg(feature = "gzip")]
            Form::Gzip(encoder) => encoder.get_ref(),
        }
    }

    /// The name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        self.output().name()
    }

    /// The name by which it was opened.
    #[must_use]
    pub fn wxfilename(&self) -> &WxFilename {
        self.output().wxfilename()
    }

    /// Adds the place to an error from writing to this output.
    #[must_use]
    pub fn error(&self, source: io::Error) -> Error {
        self.output().error(source)
    }

    /// Ends the compression. The caller has to finish the output.
    ///
    /// # Errors
    ///
    /// If the operating system fails to write.
    pub fn into_output(self) -> Result<Output> {
        match self.0 {
            Form::Plain(output) => Ok(output),
            #[cfg(feature = "gzip")]
            Form::Gzip(mut encoder) => {
                encoder.try_finish().map_err(|error| encoder.get_ref().error(error))?;
                // Nothing is left to write that could fail.
                encoder.finish().map_err(|error| Error::io("writing", error))
            }
        }
    }

    /// Completes the output, as [`Output::finish`] does.
    ///
    /// # Errors
    ///
    /// The same as [`Output::finish`].
    pub fn finish(self) -> Result<()> {
        self.into_output()?.finish()
    }
}

impl Write for CompressedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Form::Plain(output) => output.write(bytes),
            #[cfg(feature = "gzip")]
            Form::Gzip(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Form::Plain(output) => output.flush(),
            // A flush here would cut the compressed stream and make it larger. `into_output` writes
            // its end.
            #[cfg(feature = "gzip")]
            Form::Gzip(_) => Ok(()),
        }
    }
}

impl fmt::Debug for CompressedOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompressedOutput").field("name", &self.name()).finish_non_exhaustive()
    }
}
