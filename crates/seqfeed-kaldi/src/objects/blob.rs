//! Bytes of any kind, as the Python package `kaldi_native_io` stores them in tables.

use seqfeed_core::{Error, Problem, Result};

use crate::OBJECT;
use crate::holder::{Holder, Mode};
use crate::object_reader::ObjectReader;
use crate::range::Range;

/// The bytes before the length.
const MARK: [u8; 4] = 0x2022_1114u32.to_le_bytes();

/// Bytes of any kind: the blobs of `kaldi_native_io`. Kaldi itself does not have them.
///
/// ```text
/// binary   14 11 22 20 length:i64 bytes
/// text     none
/// ```
///
/// The type must be named: it is never found from the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blob(pub Vec<u8>);

fn read_length(reader: &mut ObjectReader, mode: Mode) -> Result<u64> {
    let start = reader.position();
    if mode == Mode::Text {
        return Err(reader.unexpected(OBJECT, "a blob (\"\\0B\" and its mark)"));
    }
    let mark: [u8; 4] = reader.read_array("a blob")?;
    if mark != MARK {
        let expected = "the mark of a blob (14 11 22 20)".into();
        let problem = Problem::Unexpected { expected, found: mark.to_vec() };
        return Err(reader.error_at(start, OBJECT, problem));
    }
    let length = i64::from_le_bytes(reader.read_array("a blob")?);
    u64::try_from(length).map_err(|_| {
        let allowed = "0 or more".into();
        let problem = Problem::OutOfRange { what: "length of a blob", found: length, allowed };
        reader.error_at(start + 4, OBJECT, problem)
    })
}

impl Holder for Blob {
    const TYPE: &'static str = "blob";

    fn read(reader: &mut ObjectReader, mode: Mode) -> Result<Self> {
        let length = read_length(reader, mode)?;
        reader.check_there(length, "a blob")?;
        let mut bytes = Vec::new();
        reader.read_values(usize::try_from(length).unwrap_or(usize::MAX), &mut bytes, "a blob")?;
        Ok(Self(bytes))
    }

    fn skip(reader: &mut ObjectReader, mode: Mode) -> Result<()> {
        let length = read_length(reader, mode)?;
        reader.skip_bytes(length, "a blob")
    }

    fn write(&self, out: &mut Vec<u8>, mode: Mode) -> Result<()> {
        if mode == Mode::Text {
            return Err(Error::format(OBJECT, Problem::Unsupported("a blob as text".into()))
                .with_help("write a binary table, without `t`"));
        }
        out.extend_from_slice(&MARK);
        out.extend_from_slice(&(self.0.len() as u64).to_le_bytes());
        out.extend_from_slice(&self.0);
        Ok(())
    }

    fn extract(&self, range: &Range) -> Result<Self> {
        if range.cols.is_some() {
            let what = "a blob has no columns".into();
            return Err(Error::format(OBJECT, Problem::Unsupported(what)));
        }
        let (first, count) = range.rows_of(u32::try_from(self.0.len()).unwrap_or(u32::MAX))?;
        Ok(Self(self.0[first as usize..][..count as usize].to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_object;

    #[test]
    fn blobs_are_those_of_kaldi_native_io() {
        let mut bytes = Vec::new();
        write_object(&Blob(b"abc".to_vec()), &mut bytes, Mode::Binary).unwrap();
        assert_eq!(bytes, b"\0B\x14\x11\" \x03\0\0\0\0\0\0\0abc");
        let blob: Blob = ObjectReader::from_bytes("blob", bytes.clone()).read().unwrap();
        assert_eq!(blob.extract(&Range::parse("1:2").unwrap()).unwrap(), Blob(b"bc".to_vec()));
        for cut in 0..bytes.len() {
            let mut reader = ObjectReader::from_bytes("blob", &bytes[..cut]);
            assert!(reader.read::<Blob>().is_err(), "{cut}");
        }
        for damaged in [2, 13] {
            let mut damaged_bytes = bytes.clone();
            damaged_bytes[damaged] = 0xff;
            assert!(ObjectReader::from_bytes("blob", damaged_bytes).read::<Blob>().is_err());
        }
        assert!(blob.write(&mut Vec::new(), Mode::Text).is_err());
    }
}
