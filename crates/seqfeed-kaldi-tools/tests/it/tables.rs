//! Tools whose output Kaldi was not asked for: what its source says.

use std::fs;

use crate::calls::{WorkingDirectory, call, words};

/// Calls a tool that must end with 0; its log.
fn run(line: &str) -> String {
    let all = words(line);
    let called = call(&all[0], &all[1..]);
    assert_eq!(called.code, 0, "{line}: {}", called.log);
    called.log
}

/// As [`run`]; what is in `out` then.
fn out(line: &str) -> String {
    run(line);
    fs::read_to_string("out").unwrap()
}

#[test]
fn vectors() {
    let _here = WorkingDirectory::new();
    fs::write("a", "x [ 1 2 ]\ny [ 3 4 ]\nz [ 1 1 ]\n").unwrap();
    fs::write("b", "x [ 10 20 ]\ny [ 1 ]\nz [ 0 1 ]\n").unwrap();
    fs::write("v", "[ 1 2 ]").unwrap();
    assert_eq!(out("vector-sum ark:a ark:b ark,t:out"), "x  [ 11 22 ]\ny  [ 3 4 ]\nz  [ 1 2 ]\n");
    assert_eq!(out("vector-sum --binary=false ark:a out"), " [ 5 7 ]\n");
    assert_eq!(out("vector-sum --binary=false v v v out"), " [ 3 6 ]\n");
    assert!(out("vector-scale --scale=2 ark:a ark,t:out").starts_with("x  [ 2 4 ]\n"));
    let log = run("dot-weights ark:a ark:b ark,t:out");
    assert_eq!(fs::read_to_string("out").unwrap(), "x 50 \nz 1 \n");
    assert!(log.contains("Dimension mismatch for utterance y : 2 vs. 1"), "{log}");
    assert!(log.ends_with("Done computing dot products of 2 weights; errors on 1\n"), "{log}");
    assert_eq!(out("copy-vector --binary=false --change-dim=3 v out"), " [ 1 2 0 ]\n");
}

#[test]
fn matrices() {
    let _here = WorkingDirectory::new();
    fs::write("a", "x [ 1 2\n3 4 ]\ny [ 5 6 ]\n").unwrap();
    fs::write("b", "x [ 1 0\n0 1 ]\ny [ 1 1\n7 7 ]\n").unwrap();
    fs::write("m", "[ 1 2\n3 4 ]").unwrap();
    let sum = "x  [\n  2 2 \n  3 5 ]\ny  [\n  5 6 ]\n";
    assert_eq!(out("matrix-sum ark:a ark:b ark,t:out"), sum);
    assert!(
        out("matrix-sum --scale2=-1 ark:a ark:b ark,t:out").starts_with("x  [\n  0 2 \n  3 3 ]")
    );
    assert!(out("matrix-sum --average ark:a ark:a ark,t:out").starts_with("x  [\n  1 2 \n  3 4 ]"));
    assert_eq!(out("matrix-sum --binary=false m m out"), " [\n  2 4 \n  6 8 ]\n");
    assert_eq!(out("matrix-sum --binary=false --average m m out"), " [\n  1 2 \n  3 4 ]\n");
    let log = run("matrix-dot-product --length-tolerance=1 ark:a ark:b ark,t:out");
    let product = "x  [\n  1 0 \n  0 4 ]\ny  [\n  5 6 ]\n";
    assert_eq!(fs::read_to_string("out").unwrap(), product);
    assert!(log.contains("Tolerated length mismatch for key y"), "{log}");
    run("matrix-dot-product ark:a ark:b ark,t:out");
    assert_eq!(fs::read_to_string("out").unwrap(), "x  [\n  1 0 \n  0 4 ]\n");
    let dims = call("matrix-dim", &words("ark:a"));
    assert_eq!(String::from_utf8(dims.out).unwrap(), "x\t2\t2\ny\t1\t2\n");
    assert_eq!(call("matrix-dim", &words("m")).out, b"2\t2\n");
    let softmax = out("copy-matrix --apply-softmax-per-row ark:a ark,t:out");
    assert!(softmax.starts_with("x  [\n  0.2689414 0.7310586 \n"), "{softmax}");
    assert!(
        out("copy-matrix --apply-power=2 ark:a ark,t:out").starts_with("x  [\n  1 4 \n  9 16 ]")
    );
}

#[test]
fn features() {
    let _here = WorkingDirectory::new();
    fs::write("a", "x [ 1 2\n3 4\n5 6 ]\n").unwrap();
    fs::write("v", "x [ 7 8 ]\n").unwrap();
    assert_eq!(
        out("append-vector-to-feats ark:a ark:v ark,t:out"),
        "x  [\n  1 2 7 8 \n  3 4 7 8 \n  5 6 7 8 ]\n"
    );
    fs::write("stats", "x [ 1 2 3\n4 5 0 ]\n").unwrap();
    let log = run("modify-cmvn-stats 1 ark:stats ark,t:out");
    assert_eq!(fs::read_to_string("out").unwrap(), "x  [\n  1 0 3 \n  4 3 0 ]\n");
    assert!(log.ends_with("Modified 1 sets of stats.\n"), "{log}");
    let log = run("compare-feats ark:a ark:a");
    assert!(
        log.contains("self-product of 1st features for each column dimension:  [ 35 56 ]\n"),
        "{log}"
    );
    assert!(log.ends_with("Features are considered similar since 1 >= 0.99\n"), "{log}");
    fs::write("b", "x [ 9 0\n0 9\n-9 0 ]\n").unwrap();
    let dissimilar = call("compare-feats", &words("ark:a ark:b"));
    assert_eq!(dissimilar.code, 1);
    assert!(dissimilar.last().contains("Features are considered dissimilar since 0.08"));
    assert_eq!(call("paste-feats", &words("ark:a ark:/dev/null ark:out")).code, 255);
}

#[test]
fn segments_of_waves() {
    let _here = WorkingDirectory::new();
    let samples: Vec<u8> = (0..8000i16).flat_map(i16::to_le_bytes).collect();
    let mut wave =
        b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data"
            .to_vec();
    wave.extend_from_slice(&(samples.len() as u32).to_le_bytes());
    wave.extend_from_slice(&samples);
    wave[4..8].copy_from_slice(&(36 + samples.len() as u32).to_le_bytes());
    fs::write("r.wav", wave).unwrap();
    fs::write("wav.scp", "r r.wav\n").unwrap();
    let segments =
        "a r 0.5 0.75\nb r 0.75 1.2\nc r 0.9 9\nd r 0.95 0.96\ne r 0.5 -1\nf none 0 1\nbad\n";
    fs::write("segments", segments).unwrap();
    let log = run("extract-segments scp:wav.scp segments ark:out.ark");
    assert!(
        log.ends_with("Successfully processed 3 lines out of 7 in the segments file. \n"),
        "{log}"
    );
    for warning in [
        "Segment end is too far out of file data range [0,1s]; skipping segment 'c r 0.9 9'",
        "Segment d too short, skipping it.",
        "Could not find recording none, skipping segment f",
        "Invalid line in segments file: bad",
    ] {
        assert!(log.contains(warning), "{warning}: {log}");
    }
    assert_eq!(out("wav-to-duration ark:out.ark ark,t:out"), "a 0.25 \nb 0.25 \ne 0.5 \n");
    run("wav-copy r.wav copy.wav");
    assert_eq!(fs::read("copy.wav").unwrap(), fs::read("r.wav").unwrap());
}

#[test]
fn lattices_by_keys() {
    let _here = WorkingDirectory::new();
    fs::write("lats", "x \n0\t1\t5\t1,2,3_4\n1\n\ny \n0\t1\t6\t1,2,3\n1\n\n").unwrap();
    fs::write("keys", "y and more\n").unwrap();
    let log = run("lattice-copy --include=keys ark:lats ark,t:out");
    assert!(log.ends_with("Wrote 1 out of 2 lattices.\n"), "{log}");
    assert!(fs::read_to_string("out").unwrap().starts_with("y \n0\t1\t6\t1,2,3\n"));
    run("lattice-copy --exclude=keys ark:lats ark,t:out");
    assert!(fs::read_to_string("out").unwrap().starts_with("x \n0\t1\t5\t1,2,3_4\n"));
    fs::write("keys", "y\nq\n").unwrap();
    assert_eq!(call("lattice-copy", &words("--include=keys ark:lats ark,t:out")).code, 1);
    run("lattice-copy --include=keys --ignore-missing ark:lats ark,t:out");
}

#[test]
fn examples_in_turns_and_in_part() {
    let _here = WorkingDirectory::new();
    let example = |key: &str| {
        format!(
            "{key} <Nnet3Eg> <NumIo> 2 <NnetIo> input <I1V> 4 <I1> 0 -1 0 <I1> 0 0 0 <I1> 0 1 0 <I1> 0 2 0  [\n  \
             1 \n  2 \n  3 \n  4 ]\n</NnetIo> <NnetIo> output <I1V> 2 <I1> 0 0 0 <I1> 0 1 0  [\n  5 \n  6 ]\n\
             </NnetIo> </Nnet3Eg> "
        )
    };
    fs::write("egs", example("a") + &example("b") + &example("c")).unwrap();
    let log = run("nnet3-copy-egs ark:egs ark,t:one ark,t:two");
    assert!(log.ends_with("examples, wrote 3, 0 examples had errors.\n"), "{log}");
    let keys = |file: &str| {
        let text = fs::read_to_string(file).unwrap();
        let before = text.split(" <Nnet3Eg>").filter(|part| !part.is_empty());
        before
            .filter_map(|part| part.split_whitespace().last().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(keys("one")[..2], ["a", "c"]);
    assert_eq!(keys("two")[..1], ["b"]);
    let part = out(
        "nnet3-copy-egs --frame=1 --left-context=1 --right-context=1 --frame-shift=10 ark:egs ark,t:out",
    );
    assert!(
        part.contains("<I1V> 3 <I1> 0 10 0 <I1> 0 11 0 <I1> 0 12 0  [\n  2 \n  3 \n  4 ]"),
        "{part}"
    );
    assert!(part.contains("<I1V> 1 <I1> 0 11 0  [\n  6 ]"), "{part}");
    fs::write("weights", "a 1\nb 0.5\n").unwrap();
    fs::write("names", "a output-0\nb output-1\nc output-0\n").unwrap();
    let log = run("nnet3-copy-egs --weights=ark:weights --outputs=ark:names ark:egs ark,t:out");
    assert!(log.contains("No weight for example key c"), "{log}");
    assert!(log.ends_with("examples, wrote 2, 1 examples had errors.\n"), "{log}");
    let text = fs::read_to_string("out").unwrap();
    assert!(text.contains("output-0 <I1V> 2 <I1> 0 0 0 <I1> 0 1 0  [\n  5 \n  6 ]"), "{text}");
    assert!(text.contains("output-1 <I1V> 2 <I1> 0 0 0 <I1> 0 1 0  [\n  2.5 \n  3 ]"), "{text}");
    assert!(text.contains("input <I1V> 4 "), "{text}");
    assert_eq!(call("nnet3-copy-egs", &words("--frame=5 ark:egs ark:none")).code, 1);
    run("nnet3-shuffle-egs --srand=3 --buffer-size=2 ark:egs ark,t:out");
    let mut shuffled = keys("out");
    shuffled.truncate(3);
    shuffled.sort();
    assert_eq!(shuffled, ["a", "b", "c"]);
    // Numbers come as from a C library that nobody has seeded, as in today's Kaldi: 1804289383,
    // 846930886, 1681692777, 1714636915, 1957747793.
    fs::write("egs", ["a", "b", "c", "d", "e"].map(example).concat()).unwrap();
    for seed in ["0", "1", "7"] {
        run(&format!("nnet3-shuffle-egs --srand={seed} --buffer-size=2 ark:egs ark,t:out"));
        assert_eq!(keys("out")[..5], ["a", "c", "d", "b", "e"], "{seed}");
        run(&format!(
            "nnet3-subset-egs --srand={seed} --n=2 --randomize-order=false ark:egs ark,t:out"
        ));
        assert_eq!(keys("out")[..2], ["a", "d"], "{seed}");
    }
}

#[test]
fn averages_means_and_variances() {
    let _here = WorkingDirectory::new();
    fs::write("a", "x [ 1 2 ]\ny [ 3 6 ]\n").unwrap();
    fs::write("v", "[ 1 2 ]").unwrap();
    fs::write("w", "[ 5 2 ]").unwrap();
    assert_eq!(out("vector-sum --average --binary=false ark:a out"), " [ 2 4 ]\n");
    assert_eq!(out("vector-sum --average --binary=false v w out"), " [ 3 2 ]\n");
    let log = run("vector-sum --average ark:a ark:a ark,t:out");
    assert!(log.contains("--average has no effect"), "{log}");
    assert_eq!(out("vector-scale --binary=false --scale=2 v out"), " [ 2 4 ]\n");
    assert!(fs::read("out").unwrap().starts_with(b" ["));
    run("vector-scale --scale=2 v out");
    assert!(fs::read("out").unwrap().starts_with(b"\0BFV "));
    assert_eq!(call("vector-scale", &words("ark:a out")).code, 255);
    fs::write("stats", "s [\n2 4 2\n4 10 0 ]\nt [\n0 0 0\n0 0 0 ]\n").unwrap();
    let log = run("modify-cmvn-stats --convert-to-mean-and-var ark:stats ark,t:out");
    assert_eq!(fs::read_to_string("out").unwrap(), "s  [\n  1 2 \n  1 1 ]\n");
    assert!(log.contains("Zero or negative count for speaker t, not outputting"), "{log}");
    assert!(log.ends_with("Modified 1 sets of stats.\n"), "{log}");
    run("modify-cmvn-stats --convert-to-mean-and-var 0 ark:stats ark,t:out");
    assert_eq!(fs::read_to_string("out").unwrap(), "s  [\n  0 2 \n  1 1 ]\n");
}
