//! Any file: pieces and threads make no difference, and values are those of a parser that is plain.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;
use seqfeed_cntk::ctf::{
    CtfIncidents, CtfIndex, CtfInput, KeyKind, Names, Parser, ParserOptions, ScanOptions, Scanner,
    SequenceSamples, scan_in_parallel,
};
use seqfeed_core::Result;

/// The index, or the error as text.
type Found = Result<CtfIndex, String>;

fn scan(pieces: &[&[u8]], options: &ScanOptions) -> Found {
    let mut names = Names::new();
    let mut scanner = Scanner::new(options, &mut names);
    let all: Result<()> = pieces.iter().try_for_each(|piece| scanner.push(piece));
    all.and_then(|()| scanner.finish()).map_err(|error| error.to_string())
}

fn scan_at(data: &[u8], threads: usize, most: usize, options: &ScanOptions) -> Found {
    let read_at = |offset: u64, buffer: &mut [u8]| {
        let rest = &data[offset as usize..];
        let len = rest.len().min(buffer.len()).min(most);
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    };
    scan_in_parallel(read_at, data.len() as u64, threads, options, &mut Names::new())
        .map_err(|error| error.to_string())
}

fn cut<'d>(data: &'d [u8], cuts: &[usize]) -> Vec<&'d [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (data.len() + 1)).collect();
    cuts.extend([0, data.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|ends| &data[ends[0]..ends[1]]).collect()
}

fn options() -> impl Strategy<Value = ScanOptions> {
    let keys = prop_oneof![Just(KeyKind::Numeric), Just(KeyKind::Symbolic), Just(KeyKind::Hashed)];
    (any::<bool>(), proptest::option::of("[ab]{1,2}"), keys).prop_map(
        |(skip_sequence_ids, main_alias, keys)| ScanOptions { skip_sequence_ids, main_alias, keys },
    )
}

/// Samples of two streams: sequences of lines of a dense row and pairs.
type Line = (Vec<f32>, Vec<(u32, f32)>);

fn corpus() -> impl Strategy<Value = Vec<Vec<Line>>> {
    let value = || prop_oneof![any::<i8>().prop_map(f32::from), -1e3f32..1e3, any::<f32>()];
    let finite = move || value().prop_filter("a number", |value| value.is_finite());
    let line = (
        proptest::collection::vec(finite(), 3),
        proptest::collection::vec((0u32..100_000_000, finite()), 0..5),
    );
    proptest::collection::vec(proptest::collection::vec(line, 1..5), 1..6)
}

/// Values of `text` between blanks.
fn naive(text: &str, out: &mut SequenceSamples<f32>) {
    for line in text.lines() {
        for sample in line.split('|').skip(1) {
            let (name, values) = sample.split_once([' ', '\t']).unwrap_or((sample, ""));
            let stream = &mut out.streams[usize::from(name == "s")];
            for value in values.split_ascii_whitespace() {
                let value = match value.split_once(':') {
                    None => value,
                    Some((index, value)) => {
                        stream.indices.push(index.parse().unwrap());
                        value
                    }
                };
                stream.values.push(value.parse().unwrap());
            }
            stream.samples += 1;
            if name == "s" {
                stream.sample_ends.push(stream.values.len() as u32);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn pieces_and_threads_make_no_difference(
        text in "(\u{feff}|[ \n]{0,3})?([0-9ab |\n\r\t#]|[0-9]{1,3} |\n[12a] ?|\\|[ab]{1,2}){0,60}",
        options in options(),
        cuts in proptest::collection::vec(any::<usize>(), 0..8),
        threads in 1usize..9,
        most in 1usize..40,
    ) {
        let data = text.as_bytes();
        let whole = scan(&[data], &options);
        prop_assert_eq!(&whole, &scan(&cut(data, &cuts), &options));
        prop_assert_eq!(&whole, &scan_at(data, threads, usize::MAX, &options));
        prop_assert_eq!(&whole, &scan_at(data, threads, most, &options));
    }

    #[test]
    fn what_is_written_is_read(
        corpus in corpus(),
        blanks in "[ \t]{1,2}",
        ends in "[\r ]?\n",
        exponents in any::<bool>(),
    ) {
        let mut text = String::new();
        for (key, lines) in corpus.iter().enumerate() {
            for (row, pairs) in lines {
                let number = |value: f32| match exponents {
                    true => format!("{value:e}"),
                    false => format!("{value}"),
                };
                write!(text, "{key}{blanks}|d").unwrap();
                row.iter().for_each(|&value| {
                    write!(text, "{blanks}{}", number(value)).unwrap();
                });
                write!(text, "{blanks}|s").unwrap();
                pairs.iter().for_each(|&(index, value)| {
                    write!(text, "{blanks}{index}:{}", number(value)).unwrap();
                });
                text += &ends;
            }
        }
        let index = scan(&[text.as_bytes()], &ScanOptions::default()).unwrap();
        prop_assert_eq!(index.sequences.len(), corpus.len());
        let inputs = [CtfInput::dense("d", 3), CtfInput::sparse("s", 100_000_000)];
        let incidents = Arc::new(CtfIncidents::new(0));
        let options = ParserOptions::default();
        let mut parser = Parser::new("F", &inputs, &options, incidents).unwrap();
        let mut samples = SequenceSamples::new();
        for (sequence, lines) in index.sequences.iter().zip(&corpus) {
            let text = &text[sequence.offset as usize..][..sequence.bytes as usize];
            parser.parse(text.as_bytes(), sequence.offset, sequence.samples, &mut samples).unwrap();
            let mut plain = samples.clone();
            plain.streams.iter_mut().for_each(|stream| *stream = Default::default());
            naive(text, &mut plain);
            prop_assert_eq!(&samples, &plain);
            let rows: Vec<u32> =
                lines.iter().flat_map(|(row, _)| row).map(|value| value.to_bits()).collect();
            let found: Vec<u32> =
                samples.streams[0].values.iter().map(|value| value.to_bits()).collect();
            prop_assert_eq!(found, rows);
            prop_assert_eq!(samples.streams[1].samples as usize, lines.len());
        }
        prop_assert_eq!(parser.incidents().warnings(), 0);
    }
}
