//! Master label files, indexed and parsed from memory on one core, beside a count of lines.
//!
//! `cargo bench -p seqfeed-htk --bench mlf [-- FILE.mlf STATES.list]`; without files an alignment
//! of 100 MB is made. The best of several rounds is printed, since other programs can only make a
//! round slower.

// A program: it prints.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod timing;

use std::fmt::Write;
use std::hint::black_box;

use seqfeed_htk::label::cntk::{CntkIndex, FrameParser};
use seqfeed_htk::label::{Body, Labels, MlfIndex, ParseOptions, parse};
use seqfeed_htk::state_list::StateList;

use timing::time;

const BYTES: usize = 100_000_000;
const STATES: u64 = 132;

/// An alignment: utterances of 100 to 900 frames, segments of 9 frames on the average, with
/// scores and phones.
fn generate() -> (Vec<u8>, Vec<u8>) {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let name = |state: u64| format!("ph{}_s{}", state / 3, 2 + state % 3);
    let states: String = (0..STATES).map(|state| name(state) + "\n").collect();
    let mut text = String::from("#!MLF!#\n");
    for utterance in 0.. {
        if text.len() >= BYTES {
            break;
        }
        writeln!(text, "\"spk{:03}/utt{utterance:06}.lab\"", utterance % 97).unwrap();
        let (mut frame, frames) = (0, 100 + random(800));
        while frame < frames {
            let end = frames.min(frame + 1 + random(17));
            let name = name(random(STATES));
            writeln!(text, "{} {} {name} -12.345678 ph", frame * 100_000, end * 100_000).unwrap();
            frame = end;
        }
        text.push_str(".\n");
    }
    (text.into_bytes(), states.into_bytes())
}

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let (text, states) = match &files[..] {
        [mlf, states] => (std::fs::read(mlf).unwrap(), std::fs::read(states).unwrap()),
        _ => generate(),
    };
    let states = StateList::parse(&states).unwrap();
    println!("{} bytes", text.len());
    let lines = time("memchr, lines", text.len(), || {
        // One by one, as a reader of lines has to.
        let mut lines = 0;
        for newline in memchr::memchr_iter(b'\n', &text) {
            lines += usize::from(black_box(newline) > 0);
        }
        lines
    });
    let index = time("index, HTK", text.len(), || {
        let mut index = MlfIndex::default();
        index.add("bench", &text[..]).unwrap();
        index
    });
    let utterances = time("index, CNTK", text.len(), || {
        let mut index = CntkIndex::default();
        index.add("bench", &text[..], Err).unwrap();
        index
    });
    let labels = time("transcriptions, HTK", text.len(), || {
        let mut labels = 0;
        for id in 0..index.len() as u32 {
            let Body::Here { offset, bytes } = index.entry(id).body else { continue };
            let body = &text[offset as usize..(offset + bytes) as usize];
            let transcription = parse(body, &ParseOptions::default()).unwrap();
            labels += transcription.alternatives.iter().map(Labels::len).sum::<usize>();
        }
        labels
    });
    let parser = FrameParser::new(Some(&states), states.len() as u32);
    let mut classes = Vec::new();
    let mut values = Vec::new();
    let mut run = |boundaries: bool| {
        let mut frames = 0;
        for utterance in utterances.utterances() {
            let bytes = &text[utterance.offset as usize..][..utterance.bytes as usize];
            classes.clear();
            values.clear();
            parser
                .parse(&utterance, bytes, &mut classes, boundaries.then_some(&mut values))
                .unwrap();
            frames += classes.len();
        }
        frames
    };
    let frames = time("classes, CNTK", text.len(), || run(false));
    time("classes and boundaries, CNTK", text.len(), || run(true));
    println!("  {lines} lines, {} utterances, {labels} labels, {frames} frames", utterances.len());
}
