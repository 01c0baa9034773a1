//! Parameter files decoded and scripts parsed in memory, on one core, beside a copy of the bytes.
//!
//! `cargo bench -p seqfeed-htk --bench parse`; the best of several rounds is printed, since other
//! programs can only make a round slower.

// A program: it prints.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod timing;

use std::hint::black_box;

use seqfeed_htk::param::{
    ByteOrder, Checksum, Decoder, Encoding, Layout, ParamFile, ReadOptions, Values,
};
use seqfeed_htk::script::{Script, ScriptOptions, Style};

use timing::time;

fn frames(frames: usize, columns: usize) {
    println!("{frames} frames of {columns} (MB of floats)");
    let values: Vec<f32> = (0..frames * columns).map(|i| (i as f32).sin()).collect();
    let bytes = 4 * values.len();
    let mut out = vec![0.0_f32; values.len()];
    time("copy", bytes, || out.copy_from_slice(black_box(&values)));
    let cases = [
        ("USER", ByteOrder::Big),
        ("USER", ByteOrder::Little),
        ("USER_C", ByteOrder::Big),
        ("USER_C", ByteOrder::Little),
    ];
    for (kind, order) in cases {
        let mut file = Vec::new();
        let encoding = Encoding { kind: kind.parse().unwrap(), order, ..Encoding::default() };
        encoding.encode(Values::Floats(&values), columns, &mut file).unwrap();
        let layout = Layout::find(&file, file.len() as u64, &ReadOptions::default()).unwrap();
        let scales = layout.scales();
        let decoder =
            Decoder::new(&layout, &file[scales.start as usize..scales.end as usize]).unwrap();
        let data = &file[layout.data_offset() as usize..];
        time(&format!("{kind} {order:?}"), bytes, || decoder.decode(data, &mut out).unwrap());
        if kind == "USER" {
            time(&format!("checksum {order:?}"), bytes, || {
                let mut sum = Checksum::new(order);
                sum.update(data);
                sum.value()
            });
        }
        let directory = std::env::temp_dir();
        let path = directory.join(format!("seqfeed-bench-{}.htk", std::process::id()));
        std::fs::write(&path, &file).unwrap();
        let opened = ParamFile::open(&path, &ReadOptions::default()).unwrap();
        std::fs::remove_file(&path).unwrap();
        time(&format!("{kind} {order:?}, from a file"), bytes, || {
            opened.read_frames(0..opened.frames(), &mut out).unwrap();
        });
    }
}

fn scripts() {
    let text: String = (0..1_000_000)
        .map(|i| {
            format!("speaker{}/utt{i}.mfc=.../chunk{}.mfc[{},{}]\n", i / 50, i / 999, i, i + 9)
        })
        .collect();
    println!("a script of 1000000 lines, {} MB", text.len() / 1_000_000);
    let text = text.into_bytes();
    for style in [Style::Htk, Style::Cntk] {
        let options = ScriptOptions { style, ..ScriptOptions::default() };
        time(&format!("{style:?}"), text.len(), || {
            Script::parse(text.clone(), &options).unwrap().len()
        });
    }
}

fn main() {
    frames(2000, 40);
    frames(300_000, 40);
    frames(6000, 13);
    scripts();
}
