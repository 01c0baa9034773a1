//! Decompression of inputs.

use std::io::{self, Read};

use crate::buffered::Buffered;
use crate::{Compression, UntilFailed};

/// Reads the first bytes of a stream, and adds the decoder for them.
pub(crate) fn decode(reader: Box<dyn Read + Send>) -> io::Result<(Compression, Buffered)> {
    let mut raw = Buffered::new(reader, 0);
    while Compression::is_undecided(raw.buffered()) && raw.look_ahead()? {}
    let compression = Compression::detect(raw.buffered());
    if compression == Compression::None {
        return Ok((compression, raw));
    }
    let decoder = UntilFailed::new(decoder(compression, raw)?);
    Ok((compression, Buffered::new(Box::new(decoder), 0)))
}

fn decoder(compression: Compression, raw: Buffered) -> io::Result<Box<dyn Read + Send>> {
    Ok(match compression {
        Compression::None => Box::new(raw),
        #[cfg(feature = "gzip")]
        Compression::Gzip => Box::new(crate::gzip::Gzip::new(raw)),
        #[cfg(feature = "bzip2")]
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(raw)),
        #[cfg(feature = "zstd")]
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(raw)?),
        #[cfg(not(all(feature = "gzip", feature = "bzip2", feature = "zstd")))]
        left_out => return Err(io::Error::other(left_out.left_out())),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(not(feature = "gzip"))]
    fn what_was_left_out_names_its_feature() {
        let mut input = crate::Input::from_reader("memory", &b"\x1f\x8b\x08\0\0\0\0\0\0\0"[..]);
        let error = std::io::Read::read(&mut input, &mut [0]).unwrap_err();
        let error = input.error(error);
        assert!(error.to_string().contains("gzip was left out"), "{error}");
        assert!(error.help().unwrap().contains("feature `gzip`"), "{error}");
    }
}
