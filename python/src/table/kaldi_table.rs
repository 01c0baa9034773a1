//! A Kaldi table, for `seqfeed.open`.

use std::ops::Range as Rows;
use std::sync::Mutex;

use seqfeed::kaldi::{AnyObject, Range, ReadOptions, Rspecifier, TableKind, is_token};
use seqfeed::{ErrorKind, Problem};
use seqfeed_core::Key;

use crate::forks::lock;
use crate::kaldi::readers::{open_random, open_sequential};
use crate::kaldi::{Origin, Random, Sequential, Value, Wanted};
use crate::keys::Name;
use crate::table::{Backend, TableValue, Walk};

/// A table with separate walks in order, and one reader for random access.
pub(crate) struct KaldiTable {
    rspecifier: Name,
    wanted: Option<Wanted>,
    options: ReadOptions,
    random: Mutex<Option<Box<dyn Random>>>,
    count: Mutex<Option<usize>>,
}

impl KaldiTable {
    /// Opens a table. Nothing of an archive is read yet.
    pub(crate) fn open(
        rspecifier: Name,
        wanted: Option<Wanted>,
        options: ReadOptions,
    ) -> seqfeed::Result<Self> {
        let parsed = Rspecifier::parse(&rspecifier)?;
        // An error in the name is reported now. A command is not run before it is needed.
        let random = match parsed.kind {
            TableKind::Archive
                if parsed.rxfilename.as_encoded_bytes().trim_ascii_end().ends_with(b"|")
                    && options.opener.allows_pipes() =>
            {
                None
            }
            _ if parsed.rxfilename == "-" => None,
            _ => Some(open_random(&rspecifier, wanted.clone(), &options)?),
        };
        let (random, count) = (Mutex::new(random), Mutex::new(None));
        Ok(Self { rspecifier, wanted, options, random, count })
    }

    fn in_order(&self) -> seqfeed::Result<Box<dyn Sequential>> {
        open_sequential(Origin::Named(&self.rspecifier), self.wanted.clone(), &self.options)
    }

    fn with_random<R>(
        &self,
        use_it: impl FnOnce(&mut dyn Random) -> seqfeed::Result<R>,
    ) -> seqfeed::Result<R> {
        let mut random = lock(&self.random);
        let reader = match &mut *random {
            Some(reader) => reader,
            none => none.insert(open_random(&self.rspecifier, self.wanted.clone(), &self.options)?),
        };
        use_it(reader.as_mut())
    }
}

impl Backend for KaldiTable {
    fn get(&self, key: &[u8]) -> seqfeed::Result<Option<TableValue>> {
        // An invalid key is missing, which is no error in a mapping.
        if !is_token(key) {
            return Ok(None);
        }
        let object = self.with_random(|random| random.take(Key(key)))?;
        Ok(object.map(TableValue::Object))
    }

    fn rows(&self, key: &[u8], start: usize, stop: usize) -> seqfeed::Result<Option<TableValue>> {
        if !is_token(key) {
            return Ok(None);
        }
        self.with_random(|random| rows(random, Key(key), start..stop))
            .map(|object| object.map(TableValue::Object))
    }

    fn contains(&self, key: &[u8]) -> seqfeed::Result<bool> {
        Ok(is_token(key) && self.with_random(|random| random.contains(Key(key)))?)
    }

    fn count(&self) -> seqfeed::Result<usize> {
        if let Some(count) = *lock(&self.count) {
            return Ok(count);
        }
        let mut reader = self.in_order()?;
        let (mut key, mut count) = (Vec::new(), 0);
        while reader.next_key(&mut key)? {
            count += 1;
        }
        *lock(&self.count) = Some(count);
        Ok(count)
    }

    fn walk(&self) -> seqfeed::Result<Box<dyn Walk>> {
        Ok(Box::new(KaldiWalk(self.in_order()?)))
    }
}

/// Rows of an object, by the rules of Python's slices.
pub(crate) fn rows(
    random: &mut dyn Random,
    key: Key<'_>,
    rows: Rows<usize>,
) -> seqfeed::Result<Option<Value>> {
    let span = |rows: &Rows<usize>| -> Option<Range> {
        let last = u32::try_from(rows.end.checked_sub(1)?).ok()?;
        let first = u32::try_from(rows.start).ok()?;
        (first <= last).then_some(Range { rows: Some((first, last)), cols: None })
    };
    if let Some(range) = span(&rows) {
        match random.take_part(key, &range) {
            // It is shorter, or its type has no ranges in script files.
            Err(error) if has_no_such_part(&error) => {}
            other => return other,
        }
    }
    let Some(object) = random.take(key)? else { return Ok(None) };
    cut_value(object, rows, key).map(Some)
}

/// Rows of a value in memory, cut off at its end.
pub(crate) fn cut_value(value: Value, rows: Rows<usize>, key: Key<'_>) -> seqfeed::Result<Value> {
    let Value::Object(object) = value else {
        return Err(seqfeed::Error::usage("what a header says has no rows").of_key(key));
    };
    cut(object, rows).map(Value::Object).map_err(|error| error.of_key(key))
}

fn has_no_such_part(error: &seqfeed::Error) -> bool {
    let ErrorKind::Format { problem, .. } = error.kind() else { return false };
    matches!(problem, Problem::OutOfRange { .. } | Problem::Unsupported(_))
}

fn cut(mut object: AnyObject, rows: Rows<usize>) -> seqfeed::Result<AnyObject> {
    let len = match &object {
        AnyObject::FloatMatrix(matrix) => matrix.rows,
        AnyObject::DoubleMatrix(matrix) => matrix.rows,
        AnyObject::CompressedMatrix(matrix) => matrix.rows(),
        AnyObject::FloatVector(vector) => vector.0.len(),
        AnyObject::DoubleVector(vector) => vector.0.len(),
        AnyObject::Int32Vector(values) => values.len(),
        AnyObject::SparseMatrix(matrix) => matrix.rows.len(),
        AnyObject::Posterior(posterior) => posterior.0.len(),
        AnyObject::TokenVector(words) => words.0.len(),
        AnyObject::Int32VectorVector(vectors) => vectors.len(),
        other => {
            return Err(seqfeed::Error::usage(format!(
                "an object of type {} has no rows",
                other.object_type()
            )));
        }
    };
    let stop = rows.end.min(len);
    let kept = rows.start.min(stop)..stop;
    match &mut object {
        AnyObject::FloatMatrix(matrix) => cut_matrix(matrix, &kept),
        AnyObject::DoubleMatrix(matrix) => cut_matrix(matrix, &kept),
        AnyObject::CompressedMatrix(matrix) => {
            let mut whole = matrix.to_matrix::<f32>();
            cut_matrix(&mut whole, &kept);
            object = AnyObject::FloatMatrix(whole);
        }
        AnyObject::FloatVector(vector) => keep(&mut vector.0, &kept),
        AnyObject::DoubleVector(vector) => keep(&mut vector.0, &kept),
        AnyObject::Int32Vector(values) => keep(values, &kept),
        AnyObject::SparseMatrix(matrix) => keep(&mut matrix.rows, &kept),
        AnyObject::Posterior(posterior) => keep(&mut posterior.0, &kept),
        AnyObject::TokenVector(words) => keep(&mut words.0, &kept),
        AnyObject::Int32VectorVector(vectors) => keep(vectors, &kept),
        _ => {}
    }
    Ok(object)
}

fn keep<T>(values: &mut Vec<T>, kept: &Rows<usize>) {
    values.truncate(kept.end);
    values.drain(..kept.start);
}

fn cut_matrix<T>(matrix: &mut seqfeed::kaldi::Matrix<T>, kept: &Rows<usize>) {
    keep(&mut matrix.values, &(kept.start * matrix.cols..kept.end * matrix.cols));
    matrix.rows = kept.len();
}

/// A walk through a Kaldi table.
struct KaldiWalk(Box<dyn Sequential>);

impl Walk for KaldiWalk {
    fn next(&mut self, key: &mut Vec<u8>) -> seqfeed::Result<Option<TableValue>> {
        Ok(self.0.next(key)?.map(TableValue::Object))
    }

    fn next_key(&mut self, key: &mut Vec<u8>) -> seqfeed::Result<bool> {
        self.0.next_key(key)
    }
}
