//! Writing of single objects, for tools.

use std::io::Write;

use seqfeed_io::{Output, WxFilename, name_from_text};
use seqfeed_kaldi::{Holder, Mode, TableWriter, WriteReport, write_object};

use crate::call::{Call, Stop};

impl Call<'_> {
    /// Writes an object to a file of its own: Kaldi's `WriteKaldiObject`.
    pub(crate) fn write_object<T: Holder>(
        &self,
        value: &T,
        name: &str,
        binary: bool,
    ) -> Result<(), Stop> {
        let mode = if binary { Mode::Binary } else { Mode::Text };
        let mut bytes = Vec::new();
        write_object(value, &mut bytes, mode)?;
        self.write_bytes(&bytes, name)
    }

    /// Writes a file.
    pub(crate) fn write_bytes(&self, bytes: &[u8], name: &str) -> Result<(), Stop> {
        let name = WxFilename::parse(&name_from_text(name))?;
        self.note_outputs(std::slice::from_ref(&name))?;
        let mut output = Output::create(&name, self.opener())?;
        output.write_all(bytes).map_err(|error| output.error(error))?;
        output.finish()?;
        Ok(())
    }
}

/// Ends a written table, so that its files appear. If this fails, Kaldi aborts.
pub(crate) fn close<T: Holder>(writer: TableWriter<T>) -> Result<WriteReport, Stop> {
    writer.close().map_err(|error| Stop::abort(&error))
}
