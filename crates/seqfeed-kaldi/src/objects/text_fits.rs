//! The possible types of an object as text, if several fit.

use crate::holder::Mode;
use crate::object_reader::is_space;
use crate::objects::basic::Basic;
use crate::objects::object_type::ObjectType;

/// Types of several numbers on a line.
const NUMBERS: [ObjectType; 4] = [
    ObjectType::Int32Vector,
    ObjectType::Int64Vector,
    ObjectType::FloatBasicVector,
    ObjectType::DoubleBasicVector,
];

/// Types of one number.
const NUMBER: [ObjectType; 4] =
    [ObjectType::Int32, ObjectType::Int64, ObjectType::Float, ObjectType::Double];

/// Whether a line of this type keeps its words.
pub(crate) fn is_words(object_type: ObjectType) -> bool {
    matches!(object_type, ObjectType::Token | ObjectType::TokenVector)
}

/// Whether text of this type is a vector or a matrix in brackets.
pub(crate) fn is_bracketed(object_type: ObjectType) -> bool {
    is_matrix(object_type)
        || matches!(
            object_type,
            ObjectType::FloatVector | ObjectType::DoubleVector | ObjectType::FloatPackedMatrix
        )
}

pub(crate) fn is_matrix(object_type: ObjectType) -> bool {
    matches!(object_type, ObjectType::FloatMatrix | ObjectType::DoubleMatrix)
}

/// The types that fit a text in brackets: a vector may be a matrix of one row, floats fit doubles,
/// and empty brackets fit all.
pub(crate) fn bracketed_types(text: &[u8], taken: ObjectType) -> Vec<ObjectType> {
    use ObjectType as T;
    let all = [T::FloatVector, T::DoubleVector, T::FloatMatrix, T::DoubleMatrix];
    if taken == T::FloatPackedMatrix {
        let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let empty = line.contains(&b']') && line.iter().all(|byte| b"[] \t".contains(byte));
        return if empty { [&[taken], &all[..]].concat() } else { Vec::new() };
    }
    let vectors = !is_matrix(taken);
    let floats = matches!(taken, T::FloatVector | T::FloatMatrix);
    let fits = |one: &T| {
        (vectors || is_matrix(*one)) && (floats || matches!(one, T::DoubleVector | T::DoubleMatrix))
    };
    all.into_iter().filter(fits).collect()
}

/// Whether an object of a type can be an empty line.
pub(crate) fn may_be_empty(object_type: ObjectType) -> bool {
    use ObjectType as T;
    NUMBERS.contains(&object_type)
        || matches!(
            object_type,
            T::TokenVector | T::Int32VectorVector | T::Int32PairVector | T::FloatPairVector
        )
}

/// A line without brackets: numbers or words.
pub(crate) struct Line<'a> {
    line: &'a [u8],
    one: bool,
}

impl<'a> Line<'a> {
    pub(crate) fn new(line: &'a [u8]) -> Self {
        let one = words(line).take(2).count() == 1;
        Self { line, one }
    }

    pub(crate) fn is_empty(&self) -> bool {
        words(self.line).next().is_none()
    }

    /// The types that fit the line: those of numbers, then those of words. The first type of words
    /// is the one that writes the same blank at the end.
    pub(crate) fn types(&self, taken: ObjectType) -> Vec<ObjectType> {
        use ObjectType as T;
        let (integers, numbers) = match taken {
            T::Int32Vector => (true, true),
            T::Int64 | T::Uint64 | T::Int64Vector | T::Float => (false, true),
            T::Token | T::TokenVector => (false, words(self.line).all(is_number)),
            _ => (false, false),
        };
        let mut types = Vec::new();
        if !is_words(taken) {
            types.push(taken);
        }
        if numbers && !self.is_empty() {
            let wide = matches!(taken, T::Int64 | T::Int64Vector);
            let fits = |one: &T| match one {
                T::Int32 | T::Int32Vector => integers,
                T::Int64 | T::Int64Vector => integers || wide,
                _ => true,
            };
            types.extend(NUMBER.into_iter().filter(|one| self.one && fits(one)));
            types.extend(NUMBERS.into_iter().filter(fits));
            let mut seen = Vec::new();
            types.retain(|one| {
                !seen.contains(one) && {
                    seen.push(*one);
                    true
                }
            });
        }
        match (self.one, self.line.ends_with(b" ")) {
            (true, false) => types.extend([T::Token, T::TokenVector]),
            (true, true) => types.extend([T::TokenVector, T::Token]),
            (false, _) => types.push(T::TokenVector),
        }
        types
    }

    /// Whether the type `taken` would write the same words.
    pub(crate) fn is_canonical(&self, taken: ObjectType) -> bool {
        use ObjectType as T;
        let mut written = Vec::new();
        words(self.line).all(|word| match taken {
            T::Int32Vector
            | T::Int64Vector
            | T::Int64
            | T::Uint64
            | T::Int32VectorVector
            | T::Int32PairVector => word == b";" || is_canonical_integer(word),
            T::Float | T::FloatPairVector if word != b";" => {
                written.clear();
                if let Some((value, _)) = f32::from_text(word) {
                    value.write_basic(&mut written, Mode::Text);
                }
                written.trim_ascii_end() == word
            }
            _ => true,
        })
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| is_space(byte)).filter(|word| !word.is_empty())
}

fn is_number(word: &[u8]) -> bool {
    std::str::from_utf8(word).is_ok_and(|word| word.parse::<f64>().is_ok())
}

/// Whether an integer has neither a plus sign nor leading zeros.
fn is_canonical_integer(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    digits == b"0" || digits.first().is_some_and(|first| matches!(first, b'1'..=b'9'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ObjectType as T;

    #[test]
    fn words_fit_every_line() {
        for (line, taken) in [
            (&b"0103"[..], T::Int32Vector),
            (b"1 2 3", T::Int32Vector),
            (b"9000000000", T::Int64),
            (b"1 ; 2 3 ;", T::Int32VectorVector),
            (b"0.5 1 ; 2 3", T::FloatPairVector),
            (b"spk", T::Token),
            (b"", T::TokenVector),
        ] {
            let types = Line::new(line).types(taken);
            assert!(types.contains(&T::TokenVector), "{}", line.escape_ascii());
            assert!(types.contains(&taken), "{}", line.escape_ascii());
        }
    }

    #[test]
    fn numbers_are_canonical_as_kaldi_writes_them() {
        let canonical = |line: &[u8], taken| Line::new(line).is_canonical(taken);
        for line in ["0", "-12", "1 2 30 "] {
            assert!(canonical(line.as_bytes(), T::Int32Vector), "{line}");
        }
        for line in ["0103", "+1", "1 02", "-007", "00"] {
            assert!(!canonical(line.as_bytes(), T::Int32Vector), "{line}");
        }
        assert!(canonical(b"0.5 ", T::Float) && canonical(b"1e-05 ", T::Float));
        assert!(!canonical(b"0.50 ", T::Float) && !canonical(b"1e3 ", T::Float));
        assert!(
            canonical(b"1 ; 2", T::Int32PairVector) && !canonical(b"1 ; 02", T::Int32PairVector)
        );
    }

    #[test]
    fn vectors_in_brackets_may_be_rows_of_matrices() {
        let types = |text: &str, taken| bracketed_types(text.as_bytes(), taken);
        assert_eq!(types(" [ 1 2 ]", T::FloatVector).len(), 4);
        assert_eq!(types(" [ 1e300 ]", T::DoubleVector), [T::DoubleVector, T::DoubleMatrix]);
        assert_eq!(types(" [\n 1 ]", T::FloatMatrix), [T::FloatMatrix, T::DoubleMatrix]);
        assert_eq!(types(" [\n 1e300 ]", T::DoubleMatrix), [T::DoubleMatrix]);
        assert_eq!(types("[ ]\n", T::FloatPackedMatrix).len(), 5);
        assert!(types("[ 1 ]\n", T::FloatPackedMatrix).is_empty());
    }
}
