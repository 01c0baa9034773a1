//! Finds the type of an object from its bytes.

use seqfeed_core::Result;
use seqfeed_core::number_text::ParseInteger;

use crate::OBJECT;
use crate::object_reader::{ObjectReader, is_space, is_token};
use crate::objects::object_type::ObjectType;
use crate::objects::text_fits::{Line, bracketed_types, is_bracketed, is_matrix};

/// The number of bytes to look at. Integers that follow one another in all of them do so to the
/// end.
const WINDOW: usize = 1 << 12;

/// The type of the next object. Nothing is consumed.
pub(crate) fn detect(reader: &mut ObjectReader) -> Result<ObjectType> {
    // Most binary objects say their type at once.
    let buffered = reader.fill()?;
    if let [0, b'B', b'A'..=b'Z' | b'<', ..] = buffered
        && (buffered.len() > 32 || says_its_type(&buffered[2..]))
        && let Some(found) = binary_type(&buffered[2..], false)
    {
        return Ok(found);
    }
    let (window, ended) = window(reader)?;
    let found = match window {
        [0, b'B', binary @ ..] => binary_type(binary, ended),
        [b'R', b'I', b'F', b'F' | b'X', ..] => Some(ObjectType::Wave),
        [0xd6, 0xfd, 0xb2, 0x7e, ..] => fst_type(window),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => numpy_type(window),
        [0, ..] | [] => None,
        text => text_type(text, ended),
    };
    found.ok_or_else(|| {
        reader
            .unexpected(OBJECT, "an object of a known type")
            .with_help("is it damaged, or of a type that must be named (htk-matrix)?")
    })
}

/// Whether a binary object begins with a whole word for its type, whatever follows.
fn says_its_type(bytes: &[u8]) -> bool {
    let Some(end) = bytes.iter().position(|&byte| is_space(byte)) else { return false };
    let words: [&[u8]; 11] = [
        b"FM",
        b"DM",
        b"FV",
        b"DV",
        b"CM",
        b"CM2",
        b"CM3",
        b"FP",
        b"DP",
        b"<Nnet3Eg>",
        b"<Nnet3ChainEg>",
    ];
    words.contains(&&bytes[..end])
}

/// The bytes that tell the type of an object, and whether the stream ends with them. It waits for
/// no more bytes than needed, so that slow data are passed on at once.
fn window(reader: &mut ObjectReader) -> Result<(&[u8], bool)> {
    let ended = loop {
        let buffered = reader.fill()?;
        let len = buffered.len();
        if len >= WINDOW || is_whole_text(buffered) {
            break false;
        }
        if reader.ensure(len + 1)?.len() == len {
            break true;
        }
    };
    let buffered = reader.fill()?;
    Ok((&buffered[..buffered.len().min(WINDOW)], ended))
}

/// Whether the text is long enough to tell its type: its line, or its lines up to the closing
/// bracket.
fn is_whole_text(text: &[u8]) -> bool {
    let Some(end) = memchr::memchr(b'\n', text) else { return false };
    let line = text[..end].trim_ascii();
    match line.first() {
        Some(b'[') => memchr::memchr(b']', text)
            .is_some_and(|bracket| memchr::memchr(b'\n', &text[bracket..]).is_some()),
        Some(first) => first.is_ascii_graphic(),
        None => false,
    }
}

/// The type of a transducer in OpenFst's form, from the name of its arcs.
fn fst_type(bytes: &[u8]) -> Option<ObjectType> {
    let head = &bytes[..bytes.len().min(64)];
    let has = |what: &[u8]| memchr::memmem::find(head, what).is_some();
    if has(b"compactlattice") {
        Some(ObjectType::CompactLattice)
    } else if has(b"lattice") {
        Some(ObjectType::Lattice)
    } else {
        has(b"standard").then_some(ObjectType::Fst)
    }
}

/// The type of a transducer as text, from its first line with a weight. The text begins with the
/// end of a line.
fn fst_text_type(text: &[u8]) -> Option<ObjectType> {
    let mut found = None;
    for line in text.split(|&byte| byte == b'\n').skip(1) {
        let columns: Vec<&[u8]> =
            line.split(|&byte| is_space(byte)).filter(|column| !column.is_empty()).collect();
        let Some(last) = columns.last() else { break };
        let commas = last.iter().filter(|&&byte| byte == b',').count();
        match (columns.len(), commas) {
            (2 | 4, 2) | (3, _) => return Some(ObjectType::CompactLattice),
            (2 | 5, 1) => return Some(ObjectType::Lattice),
            (5, 0) => return Some(ObjectType::Fst),
            // Without a weight it may be any type.
            (1 | 2 | 4, _) => found = Some(ObjectType::Fst),
            _ => return None,
        }
    }
    found
}

fn numpy_type(bytes: &[u8]) -> Option<ObjectType> {
    let head = &bytes[..bytes.len().min(256)];
    let has = |what: &[u8]| memchr::memmem::find(head, what).is_some();
    if has(b"f4") {
        Some(ObjectType::FloatNumpyArray)
    } else {
        has(b"f8").then_some(ObjectType::DoubleNumpyArray)
    }
}

/// The type of a binary object, from the bytes after `\0B`.
fn binary_type(bytes: &[u8], ended: bool) -> Option<ObjectType> {
    let word = bytes.split(|&byte| is_space(byte)).next().unwrap_or_default();
    Some(match word {
        b"FM" => ObjectType::FloatMatrix,
        b"DM" => ObjectType::DoubleMatrix,
        b"FV" => ObjectType::FloatVector,
        b"DV" => ObjectType::DoubleVector,
        b"CM" | b"CM2" | b"CM3" => ObjectType::CompressedMatrix,
        b"SM" if has_doubles(bytes) => ObjectType::DoubleSparseMatrix,
        b"SM" => ObjectType::SparseMatrix,
        b"SV" if has_doubles(bytes) => ObjectType::DoubleSparseVector,
        b"SV" => ObjectType::SparseVector,
        b"FP" => ObjectType::FloatPackedMatrix,
        b"DP" => ObjectType::DoublePackedMatrix,
        b"<Nnet3Eg>" => ObjectType::NnetExample,
        b"<Nnet3ChainEg>" => ObjectType::NnetChainExample,
        _ if bytes.starts_with(b"\x93NUMPY") => return numpy_type(bytes),
        _ => return tagged_type(bytes, ended),
    })
}

/// Whether the first value of a sparse vector or matrix has 64 bits. Visible rows without values
/// are skipped.
fn has_doubles(bytes: &[u8]) -> bool {
    const COUNT: usize = 5;
    // `SM ` and the number of rows.
    let mut at = if bytes.starts_with(b"SM") { 3 + COUNT } else { 0 };
    loop {
        // `SV `, the dimension, the number of pairs, the first index.
        let count = at + 3 + COUNT;
        match bytes.get(count..count + COUNT) {
            Some([4, 0, 0, 0, 0]) => at = count + COUNT,
            Some(_) => return bytes.get(count + 2 * COUNT) == Some(&8),
            None => return false,
        }
    }
}

/// The possible types of an object, from its first bytes: the type it is taken for, and all types
/// with which it ends at the same position. There are none if the object itself says its type.
#[derive(Clone)]
pub(crate) struct Fits {
    pub(crate) taken: ObjectType,
    pub(crate) types: Vec<ObjectType>,
    pub(crate) binary: bool,
    /// Whether it is a line without words, which may be of any type with many values on a line.
    pub(crate) empty: bool,
    /// Whether the line has numbers that the type it is taken for would write otherwise.
    pub(crate) noncanonical: bool,
}

impl Fits {
    /// The type, if this text decides the type of all objects in its table that fit it too: words
    /// that are not numbers, or a matrix of several rows.
    pub(crate) fn settles(&self) -> Option<ObjectType> {
        let certain = matches!(self.types[..], [ObjectType::TokenVector]) && !self.empty;
        (!self.binary && (certain || is_matrix(self.taken))).then_some(self.taken)
    }
}

/// The possible types of the next object, which was [taken](detect) for one of `taken`. Nothing is
/// consumed.
pub(crate) fn fits(reader: &mut ObjectReader, taken: ObjectType) -> Result<Fits> {
    let binary = reader.peek()? == Some(0);
    let mut fits = Fits { taken, types: Vec::new(), binary, empty: false, noncanonical: false };
    if binary && may_be_another(taken) {
        let (window, ended) = window(reader)?;
        if let [0, b'B', bytes @ ..] = window {
            fits.types = Tagged { bytes, ended }.types(taken);
        }
    } else if !binary && is_bracketed(taken) {
        fits.types = bracketed_types(window(reader)?.0, taken);
    } else if !binary && may_be_another(taken) {
        let (window, _) = window(reader)?;
        if let [b'\n' | b' ' | b'\t' | b'!'..=b'~' | 0x80..=0xfe, ..] = window {
            let line = Line::new(window.split(|&byte| byte == b'\n').next().unwrap_or_default());
            fits.types = line.types(taken);
            fits.empty = line.is_empty();
            fits.noncanonical = !line.is_canonical(taken);
        }
    }
    // Most objects are not looked at further, since more bytes may come slowly.
    Ok(fits)
}

/// Whether an object that was taken for one type may be of another, in binary form or as text.
fn may_be_another(taken: ObjectType) -> bool {
    use ObjectType as T;
    matches!(
        taken,
        T::Int32
            | T::Int64
            | T::Uint64
            | T::Float
            | T::Double
            | T::Int32Vector
            | T::Int64Vector
            | T::Int32PairVector
            | T::FloatPairVector
            | T::Int32VectorVector
            | T::Posterior
            | T::Token
            | T::TokenVector
    )
}

/// Whether bits are those of a plausible float: neither next to zero nor enormous.
fn is_likely_float(bits: u32) -> bool {
    let value = f32::from_bits(bits);
    let likely = (1e-30..1e30).contains(&value.abs()) || value == 0.0;
    likely || value.is_infinite() || bits & 0x7fff_ffff == 0x7fc0_0000
}

fn is_likely_double(bits: u64) -> bool {
    let value = f64::from_bits(bits);
    let likely = (1e-200..1e200).contains(&value.abs()) || value == 0.0;
    likely || value.is_infinite() || bits << 1 == 0x7ff8_0000_0000_0000 << 1
}

/// The types that fit a whole binary object, from the bytes after `\0B`.
pub(crate) fn fitting_types(bytes: &[u8], taken: ObjectType) -> Vec<ObjectType> {
    Tagged { bytes, ended: true }.types(taken)
}

/// The type of values with size bytes. Possible structures are tried one after another. The right
/// one ends where another key can begin.
fn tagged_type(bytes: &[u8], ended: bool) -> Option<ObjectType> {
    let tagged = Tagged { bytes, ended };
    let ends = |at: Option<usize>| at.is_some_and(|at| tagged.may_end(at));
    match *bytes.first()? {
        1 => Some(ObjectType::Int8),
        2 => Some(ObjectType::Int16),
        0xff => Some(ObjectType::Uint8),
        0xfe => Some(ObjectType::Uint16),
        0xfc => Some(ObjectType::Uint32),
        0xf8 => Some(ObjectType::Uint64),
        b'T' | b'F' if tagged.may_end(1) => Some(ObjectType::Bool),
        8 => {
            let value = i64::from_le_bytes(*bytes.get(1..)?.first_chunk()?);
            // Doubles of usual magnitudes are huge as integers.
            let integer = value.unsigned_abs() < 1 << 52;
            Some(if integer { ObjectType::Int64 } else { ObjectType::Double })
        }
        4 => {
            let value = tagged.integer(0)?;
            let candidates = [
                (ObjectType::GaussPosterior, tagged.gauss_posterior()),
                (ObjectType::Int32Vector, ends(tagged.vector(0, 1))),
                (ObjectType::Int32PairVector, ends(tagged.vector(0, 2))),
                (ObjectType::Int32VectorVector, ends(tagged.vectors(1))),
                (ObjectType::Posterior, ends(tagged.vectors(2))),
                (ObjectType::Int8Vector, ends(tagged.sized(1))),
                (ObjectType::Int16Vector, ends(tagged.sized(2))),
                (ObjectType::Int64Vector, ends(tagged.sized(8))),
            ];
            let found = candidates.into_iter().find(|&(_, fits)| fits).map(|(found, _)| found);
            match found {
                Some(ObjectType::Int32PairVector) if tagged.floats() => {
                    Some(ObjectType::FloatPairVector)
                }
                Some(found) => Some(found),
                None if !tagged.may_end(5) => None,
                None if value.unsigned_abs() < 1 << 23 => Some(ObjectType::Int32),
                None => Some(ObjectType::Float),
            }
        }
        _ => None,
    }
}

/// The visible values with the size byte 4.
struct Tagged<'a> {
    bytes: &'a [u8],
    /// Whether the stream ends with these bytes.
    ended: bool,
}

impl Tagged<'_> {
    /// The integer at an offset.
    fn integer(&self, at: usize) -> Option<i32> {
        match self.bytes.get(at..)? {
            [4, value @ ..] => value.first_chunk().map(|value| i32::from_le_bytes(*value)),
            _ => None,
        }
    }

    /// Whether an object may end at an offset: the stream ends there, a key may begin there, or it
    /// lies beyond the visible bytes.
    fn may_end(&self, at: usize) -> bool {
        let Some(behind) = self.bytes.get(at..) else { return !self.ended };
        let key = behind.trim_ascii_start();
        let len = key.iter().position(|&byte| is_space(byte)).unwrap_or(key.len());
        is_token(&key[..len]) || key.is_empty()
    }

    /// Reads a count and that many times `each` values at an offset. Returns the end.
    fn vector(&self, at: usize, each: usize) -> Option<usize> {
        let count = usize::try_from(self.integer(at)?).ok()?;
        let end = count.checked_mul(5 * each)?.checked_add(at + 5)?;
        let seen = end.min(self.bytes.len());
        let fits = (at + 5..seen).step_by(5).all(|at| self.bytes[at] == 4);
        (fits && (end == seen || !self.ended)).then_some(end)
    }

    /// Reads a count and that many values of `size` bytes, each with its size byte. Returns the
    /// end.
    fn sized(&self, size: u8) -> Option<usize> {
        let count = usize::try_from(self.integer(0)?).ok()?;
        let each = usize::from(size) + 1;
        let end = count.checked_mul(each)?.checked_add(5)?;
        let seen = end.min(self.bytes.len());
        let fits = (5..seen).step_by(each).all(|at| self.bytes[at] == size);
        (fits && (end == seen || !self.ended)).then_some(end)
    }

    /// Reads a count of vectors. Returns the end.
    fn vectors(&self, each: usize) -> Option<usize> {
        let count = usize::try_from(self.integer(0)?).ok()?;
        let mut at = 5;
        for _ in 0..count {
            if at >= self.bytes.len() && !self.ended {
                break;
            }
            at = self.vector(at, each)?;
        }
        Some(at)
    }

    /// The types that fit an object: those with which it ends at the same position as with `taken`.
    fn types(&self, taken: ObjectType) -> Vec<ObjectType> {
        use ObjectType as T;
        let bits = |value: i32| u32::from_ne_bytes(value.to_ne_bytes());
        match (taken, self.bytes) {
            (T::Int64 | T::Double, [8, value @ ..]) => {
                let value = value.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                match (is_likely_double(value), value) {
                    (true, 0) => vec![T::Int64, T::Double],
                    (true, _) => vec![T::Double, T::Int64],
                    (false, _) => vec![T::Int64],
                }
            }
            (
                T::Int32
                | T::Float
                | T::Int32Vector
                | T::Int32PairVector
                | T::FloatPairVector
                | T::Int32VectorVector
                | T::Posterior,
                [4, ..],
            ) => {
                let all = [
                    (T::Int32Vector, self.vector(0, 1)),
                    (T::Int32PairVector, self.vector(0, 2)),
                    (T::Int32VectorVector, self.vectors(1)),
                    (T::Posterior, self.vectors(2)),
                    (T::Int32, Some(5)),
                ];
                let own = match taken {
                    T::FloatPairVector => T::Int32PairVector,
                    T::Float => T::Int32,
                    other => other,
                };
                let end = all.iter().find(|(one, _)| *one == own).and_then(|(_, end)| *end);
                let same = all.into_iter().filter(|(_, found)| *found == end);
                let mut types: Vec<T> = same.map(|(one, _)| one).collect();
                let from = if own == T::Int32 { 0 } else { 5 };
                let values = (from..self.bytes.len()).step_by(5).map_while(|at| self.integer(at));
                let within = (end.unwrap_or(0).saturating_sub(from)) / 5;
                let (mut likely, mut any) = (true, false);
                for value in values.take(within) {
                    likely &= is_likely_float(bits(value));
                    any |= value != 0;
                }
                // As floats, integers are values next to zero. Zeros may be either.
                for (integers, floats) in [
                    (T::Int32, T::Float),
                    (T::Int32Vector, T::FloatBasicVector),
                    (T::Int32PairVector, T::FloatPairVector),
                ] {
                    if let Some(at) = types.iter().position(|one| *one == integers)
                        && likely
                        && (any || integers == T::Int32)
                    {
                        types.insert(if any { at } else { at + 1 }, floats);
                    }
                }
                types
            }
            _ => Vec::new(),
        }
    }

    /// Whether frames follow whose entries have a vector each.
    fn gauss_posterior(&self) -> bool {
        let mut at = 5;
        // Frames without entries do not tell.
        while self.integer(at) == Some(0) {
            at += 5;
        }
        let vector = self.bytes.get(at + 10..);
        self.integer(at).is_some()
            && self.integer(at + 5).is_some()
            && vector.is_some_and(|bytes| bytes.starts_with(b"FV ") || bytes.starts_with(b"DV "))
    }

    /// Whether the values look like floats rather than integers.
    fn floats(&self) -> bool {
        let values = (5..self.bytes.len()).step_by(5).map_while(|at| self.integer(at));
        values.take(16).any(|value| value.unsigned_abs() >= 1 << 23)
    }
}

/// The type of an object as text.
fn text_type(text: &[u8], ended: bool) -> Option<ObjectType> {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let trimmed = line.trim_ascii();
    if trimmed.starts_with(b"[") {
        let found = bracketed_type(text, trimmed);
        return Some(match found {
            ObjectType::FloatMatrix if beyond_floats(text) => ObjectType::DoubleMatrix,
            ObjectType::FloatVector if beyond_floats(line) => ObjectType::DoubleVector,
            other => other,
        });
    }
    if trimmed.is_empty() && line.len() < text.len() {
        // After an empty line there are states, or this is an empty line.
        let next = text[line.len() + 1..].split(|&byte| byte == b'\n').next().unwrap_or_default();
        if next.first().is_some_and(u8::is_ascii_digit) && line_of_states(next) {
            return fst_text_type(text);
        }
    }
    if trimmed.starts_with(b"<Nnet3Eg>") {
        return Some(ObjectType::NnetExample);
    }
    if trimmed.starts_with(b"<Nnet3ChainEg>") {
        return Some(ObjectType::NnetChainExample);
    }
    if trimmed.starts_with(b"rows=") {
        return Some(ObjectType::SparseMatrix);
    }
    if trimmed.starts_with(b"dim=") {
        return Some(ObjectType::SparseVector);
    }
    if line.len() == text.len() && !ended {
        // A line of numbers or words this long is not of one kind by chance.
        return line_type(line);
    }
    // `T n id  [ v ]`: frames of entries with a vector.
    if memchr::memchr(b'[', trimmed).is_some()
        && trimmed
            .split(|&byte| byte == b'[')
            .next()
            .is_some_and(|head| line_type(head) == Some(ObjectType::Int32Vector))
    {
        return Some(ObjectType::GaussPosterior);
    }
    line_type(line)
}

/// Whether a value before the first closing bracket is too large or too small for 32 bits.
/// (Infinite values are not.)
fn beyond_floats(text: &[u8]) -> bool {
    let values = &text[..memchr::memchr(b']', text).unwrap_or(text.len())];
    if memchr::memchr2(b'e', b'E', values).is_none() {
        return false;
    }
    let words = values.split(|&byte| is_space(byte)).filter(|word| word.len() > 3);
    let mut numbers = words.filter_map(|word| std::str::from_utf8(word).ok()?.parse::<f64>().ok());
    numbers.any(|value| {
        let narrow = value as f32;
        value.is_finite() && narrow.is_infinite() || value != 0.0 && narrow == 0.0
    })
}

/// Whether a line belongs to a transducer, and is not the next entry of an archive: it has tabs, or
/// a single state.
fn line_of_states(line: &[u8]) -> bool {
    line.contains(&b'\t') || line.iter().all(u8::is_ascii_digit)
}

fn bracketed_type(text: &[u8], line: &[u8]) -> ObjectType {
    // Kaldi writes matrices and vectors with a space before the bracket, posteriors with a space
    // after each bracket, and symmetric and triangular matrices with none.
    let spaced = !text.starts_with(b"[");
    if line.len() > 1 {
        let frames = line.iter().filter(|&&byte| byte == b'[').count();
        let closed = line.contains(&b']');
        let empty = line.iter().all(|&byte| is_space(byte) || matches!(byte, b'[' | b']'));
        let behind = text.get(line.len()) == Some(&b' ');
        return match (frames, closed) {
            // Rows may end with a semicolon.
            (1, true) if line.contains(&b';') => ObjectType::FloatMatrix,
            (2.., _) => ObjectType::Posterior,
            (_, true) if !spaced && behind => ObjectType::Posterior,
            (_, true) if !spaced && empty => ObjectType::FloatPackedMatrix,
            (_, true) => ObjectType::FloatVector,
            (_, false) => ObjectType::FloatMatrix,
        };
    }
    // Rows of one, two, three values form a triangle.
    let mut rows = text.split(|&byte| byte == b'\n').skip(1);
    let first = rows.next().unwrap_or_default();
    let values = |row: &[u8]| {
        row.split(|&byte| is_space(byte) || byte == b']').filter(|word| !word.is_empty()).count()
    };
    let triangle = match first.contains(&b']') {
        true => !spaced && !first.starts_with(b" ") && values(first) == 1,
        false => (values(first), rows.next().map(values)) == (1, Some(2)),
    };
    if triangle { ObjectType::FloatPackedMatrix } else { ObjectType::FloatMatrix }
}

/// Whether a line has only integers without signs that are short enough to fit. This covers most
/// integer vectors in one pass.
fn is_short_integers(line: &[u8]) -> bool {
    let (mut any, mut digits) = (false, 0);
    for byte in line {
        match byte {
            b'0'..=b'9' if digits < 9 => (any, digits) = (true, digits + 1),
            b' ' => digits = 0,
            _ => return false,
        }
    }
    any
}

/// The type of a line without brackets. A line with control characters is not text: the object
/// begins elsewhere.
fn line_type(line: &[u8]) -> Option<ObjectType> {
    if is_short_integers(line) {
        return Some(ObjectType::Int32Vector);
    }
    let words = || line.split(|&byte| is_space(byte)).filter(|word| !word.is_empty());
    // A negative zero is a float.
    fn fits<T: ParseInteger>(word: &[u8]) -> bool {
        word != b"-0" && T::parse_integer(word).is_some_and(|(_, len)| len == word.len())
    }
    let integer = fits::<i32>;
    let number = |word: &[u8]| {
        word.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-')
            && std::str::from_utf8(word).is_ok_and(|word| word.parse::<f64>().is_ok())
    };
    if words().next().is_none() {
        // It reads back from an empty line with any type.
        return Some(ObjectType::TokenVector);
    }
    let paired = words().any(|word| word == b";");
    if words().all(|word| integer(word) || word == b";") {
        return Some(match (paired, words().next_back() == Some(b";")) {
            (false, _) => ObjectType::Int32Vector,
            (true, true) => ObjectType::Int32VectorVector,
            (true, false) => ObjectType::Int32PairVector,
        });
    }
    if !paired && words().nth(1).is_some() && words().all(fits::<i64>) {
        return Some(ObjectType::Int64Vector);
    }
    if paired && words().all(|word| number(word) || word == b";") {
        return Some(ObjectType::FloatPairVector);
    }
    if !words().all(is_token) {
        return None;
    }
    let mut all = words();
    Some(match (all.next(), all.next()) {
        (Some(b"T" | b"F"), None) if line.ends_with(b" ") => ObjectType::Bool,
        (Some(word), None) if fits::<i64>(word) => ObjectType::Int64,
        (Some(word), None) if fits::<u64>(word) => ObjectType::Uint64,
        (Some(word), None) if number(word) && line.ends_with(b" ") => ObjectType::Float,
        // Kaldi writes a space after each word of a vector.
        (Some(_), None) if !line.ends_with(b" ") => ObjectType::Token,
        _ => ObjectType::TokenVector,
    })
}
