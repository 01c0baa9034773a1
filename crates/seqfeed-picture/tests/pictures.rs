//! Pictures of the example's utterances.
#![allow(clippy::unwrap_used)]

use std::io::Cursor;
use std::path::{Path, PathBuf};

use seqfeed::io::Opener;
use seqfeed::{Description, Key, Sequence};
use seqfeed_picture::Picture;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/digits")
}

fn picture(range: std::ops::Range<usize>) -> Picture {
    let description = Description::from_file(&examples().join("test.toml")).unwrap();
    let opened = description.open(&Opener::default()).unwrap();
    let corpus = opened.corpus().as_ref();
    let number = Sequence::find(corpus, Key(b"en+f3-0101")).unwrap();
    let mut sequence = Sequence::load(corpus, number).unwrap();
    sequence.keep_samples(&range);
    Picture::of(&[sequence], &|_| 0.01).unwrap()
}

fn pixels(png: &[u8]) -> (u32, u32, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(Cursor::new(png)).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    (info.width, info.height, bytes.as_chunks::<3>().0.to_vec())
}

#[test]
fn a_png_shows_features_colour_bar_and_labels() {
    let (width, height, pixels) = pixels(&picture(0..usize::MAX).png().unwrap());
    assert_eq!((width, height), (1920, 812));
    let at = |x: u32, y: u32| pixels[(y * width + x) as usize];
    assert_eq!(at(2, 2), [255, 255, 255]);
    // The colour bar goes from yellow to violet.
    assert!(at(1776, 95)[0] > 200 && at(1776, 95)[2] < 80, "{:?}", at(1776, 95));
    assert!(at(1776, 640)[0] < 90 && at(1776, 640)[2] > 60, "{:?}", at(1776, 640));
    // Loud in a vowel, silent before it.
    let light = |[r, g, b]: [u8; 3]| u32::from(r) + u32::from(g) + u32::from(b);
    assert!(light(at(245, 263)) > light(at(147, 612)) + 60);
    // Silence and the first word have labels of different colours.
    assert_ne!(at(140, 675), at(230, 675));
    // A title, in dark letters.
    let dark = (120..280)
        .flat_map(|x| (20..80).map(move |y| (x, y)))
        .filter(|&(x, y)| light(at(x, y)) < 200);
    assert!(dark.count() > 300);
}

#[test]
fn an_svg_has_text_and_the_same_image() {
    let svg = picture(0..usize::MAX).svg().unwrap();
    assert!(
        svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"960\" height=\"406\"")
    );
    for text in [
        ">en+f3-0101<",
        ">time (s)<",
        ">features 315 x 40, labels 315<",
        ">0.5<",
        ">labels<",
        ">9<",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    assert_eq!(svg.matches("data:image/png;base64,").count(), 2);
    assert!(svg.ends_with("</svg>\n"));
    assert_eq!(svg, picture(0..usize::MAX).svg().unwrap());
}

#[test]
fn a_part_begins_at_its_own_time() {
    let svg = picture(100..200).svg().unwrap();
    assert!(svg.contains(">1.0<") && svg.contains(">1.9<") && !svg.contains(">0.5<"));
}

#[test]
fn a_terminal_shows_as_many_columns_as_it_has() {
    for columns in [40, 100, 400] {
        let text = picture(0..usize::MAX).terminal(columns);
        let visible = |line: &str| {
            let mut plain = 0;
            let mut letters = line.chars();
            while let Some(letter) = letters.next() {
                match letter {
                    '\x1b' => drop(letters.find(|&end| end == 'm')),
                    _ => plain += 1,
                }
            }
            plain
        };
        let lines: Vec<usize> = text.lines().map(visible).collect();
        assert!(lines[1..].iter().all(|&width| width <= columns.max(60)), "{columns}: {lines:?}");
        // 40 bins are 20 lines; title, labels, time and colours are 4.
        assert_eq!(lines.len(), 24);
    }
}

#[test]
fn nothing_to_draw_is_said() {
    let description = Description::from_file(&examples().join("test.toml")).unwrap();
    let opened = description.open(&Opener::default()).unwrap();
    let mut sequence = Sequence::load(opened.corpus().as_ref(), 0).unwrap();
    assert!(!sequence.keep_stream("no such"));
    assert!(Picture::of(&[sequence], &|_| 0.01).unwrap_err().is_usage());
}
