//! Files of numpy's, one a sequence.

use std::ops::Range;
use std::sync::Arc;

use seqfeed_core::{
    About, Block, Element, Error, Extent, Index, IndexBuilder, Kind, Problem, Result, Source,
    Stream,
};
use seqfeed_io::{Input, Location, Opener};

use super::array::Shape;
use super::npy::{NPY, read_shape};
use super::read_npy;

/// A sequence of an [`NpySource`].
#[derive(Clone, Debug)]
pub struct NpyFile {
    /// The key of the sequence.
    pub key: Vec<u8>,
    /// The file.
    pub location: Location,
    /// The rows that belong to the sequence; all of them by default.
    pub rows: Option<Range<u32>>,
}

/// Files `.npy` as a source of one stream of 32-bit floats: one array a sequence, frames by
/// dimensions.
///
/// Opening reads the header of each file. An array of one dimension has one value a frame.
#[derive(Debug)]
pub struct NpySource {
    name: String,
    stream: [Stream; 1],
    index: Arc<Index>,
    files: Vec<(Location, Range<u32>)>,
    /// The most bytes that an array takes while it is loaded.
    largest: u64,
    opener: Opener,
}

impl NpySource {
    /// Opens files as a stream with a name. `name` is the name of the list in messages.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read, has more than two dimensions or another number of columns
    /// than the first one, or has fewer rows than its sequence.
    pub fn open(
        name: &str,
        stream: &str,
        files: Vec<NpyFile>,
        chunk_samples: u64,
        opener: &Opener,
    ) -> Result<Self> {
        let mut builder = IndexBuilder::new(chunk_samples);
        let (mut columns, mut largest) = (None, 0);
        let mut opened = Vec::with_capacity(files.len());
        for NpyFile { key, location, rows } in files {
            let key = seqfeed_core::Key(&key);
            let place = |error: Error| error.in_file(location.to_string()).of_key(key);
            let mut input = Input::open(&location.clone().into(), opener).map_err(place)?;
            let shape = read_shape(&mut input).map_err(place)?;
            let (all, found) = rows_and_columns(&shape).map_err(place)?;
            let expected = *columns.get_or_insert(found);
            if found != expected {
                let what = "columns (the number of the first file is expected)";
                let problem = Problem::CountMismatch { what, expected, found };
                return Err(place(Error::format(NPY, problem)));
            }
            let rows = rows.unwrap_or(0..all);
            if rows.end > all {
                let problem = Problem::CountMismatch {
                    what: "rows (the list says how many there are)",
                    expected: rows.end.into(),
                    found: all.into(),
                };
                return Err(place(Error::format(NPY, problem)));
            }
            // Elements of 8 bytes at most, and their values as floats.
            largest = largest.max(u64::from(all).saturating_mul(found).saturating_mul(12));
            builder.push(key, rows.end - rows.start);
            opened.push((location, rows));
        }
        let stream = Stream {
            name: stream.to_owned(),
            kind: Kind::Dense,
            element: Element::F32,
            dim: columns.unwrap_or(1) as usize,
            extent: Extent::Samples,
        };
        let index = Arc::new(builder.finish());
        let (name, opener) = (name.to_owned(), opener.clone());
        Ok(Self { name, stream: [stream], index, files: opened, largest, opener })
    }

    fn load_one(&self, (location, rows): &(Location, Range<u32>), block: &mut Block) -> Result<()> {
        let place = |error: Error| error.in_file(location.to_string());
        let mut input = Input::open(&location.clone().into(), &self.opener)?;
        let array = read_npy(&mut input)?;
        let (all, columns) = rows_and_columns(array.shape()).map_err(place)?;
        if columns != self.stream[0].dim as u64 || rows.end > all {
            let what =
                format!("its shape was another one before: it is {} now", Shape(array.shape()));
            return Err(place(Error::format(NPY, Problem::Unsupported(what.into()))));
        }
        let values = array.into_f32();
        let row = self.stream[0].sample_bytes();
        let bytes = rows.start as usize * row..rows.end as usize * row;
        block.push_bytes(rows.len()).copy_from_slice(&values.as_slice()[bytes]);
        Ok(())
    }
}

/// The frames of an array, and their values.
fn rows_and_columns(shape: &[usize]) -> Result<(u32, u64)> {
    let (rows, columns) = match *shape {
        [rows] => (rows, 1),
        [rows, columns] if columns > 0 => (rows, columns),
        _ => {
            let what =
                format!("an array of shape {}: frames by dimensions are expected", Shape(shape));
            return Err(Error::format(NPY, Problem::Unsupported(what.into())));
        }
    };
    let too_many = || Error::format(NPY, Problem::Unsupported("2^32 rows or more".into()));
    Ok((u32::try_from(rows).map_err(|_| too_many())?, columns as u64))
}

impl Source for NpySource {
    fn name(&self) -> &str {
        &self.name
    }

    fn streams(&self) -> &[Stream] {
        &self.stream
    }

    fn index(&self) -> &Arc<Index> {
        &self.index
    }

    fn about(&self) -> About {
        About { format: format!("{} npy files", self.files.len()), ..About::default() }
    }

    fn load(&self, sequences: &[u32], blocks: &mut [Block]) -> Result<()> {
        sequences.iter().try_for_each(|&sequence| {
            let loaded = self.load_one(&self.files[sequence as usize], &mut blocks[0]);
            loaded.map_err(|error| error.of_key(self.index.key(sequence)))
        })
    }

    fn loading_bytes(&self) -> u64 {
        self.largest
    }
}
