//! Files that Kaldi's tools wrote of all kinds of tables, written again.

use std::fs;
use std::os::unix::fs::symlink;

use crate::calls::{WorkingDirectory, call, shared, words};

/// Calls, and the golden file that each output must equal. `@` stands for the output.
const CALLS: &[(&str, &str)] = &[
    ("copy-feats ark:inputs/bfm_src.ark ark:@", "ark/bfm.bin.ark"),
    ("copy-feats ark:inputs/bfm_src.ark ark,t:@", "ark/bfm.txt.ark"),
    ("copy-feats scp:ark/bfm.bin.scp ark:@", "ark/bfm.bin.ark"),
    ("copy-feats ark:ark/bfm.bin.ark.gz ark:@", "ark/bfm.bin.ark"),
    ("copy-feats 'ark:gunzip -c ark/bfm.bin.ark.gz|' ark:@", "ark/bfm.bin.ark"),
    ("copy-feats ark:ark/bfm.bin.ark 'ark:| cat > @'", "ark/bfm.bin.ark"),
    ("copy-feats ark:ark/dm.bin.ark ark:@", "ark/dm_as_float.bin.ark"),
    ("copy-feats ark:inputs/keys_src.ark ark:@", "ark/keys.bin.ark"),
    ("copy-feats ark:ark/mixed_bt.ark ark:@", "ark/mixed_bt.out.ark"),
    ("copy-feats scp:ark/mixed.scp ark:@", "ark/mixed.out.ark"),
    ("copy-feats scp:ark/ranges.scp ark:@", "ark/ranges.out.ark"),
    ("copy-feats scp:ark/ranges_cm.scp ark:@", "ark/ranges_cm.out.ark"),
    ("copy-vector scp:ark/ranges_vec.scp ark:@", "ark/ranges_vec.out.ark"),
    ("copy-feats ark:ark/crlf.ark ark:@", "ark/crlf.out.ark"),
    ("copy-feats --htk-in scp:htk/htk.scp ark:@", "htk/from_htk.ark"),
    ("copy-matrix ark:inputs/bfm_src.ark ark:@", "ark/bfm.bin.ark"),
    ("copy-matrix --binary=false misc/obj.bfm.bin @", "misc/obj.bfm.txt"),
    ("copy-feats --binary=false misc/obj.bfm.bin @", "misc/obj.bfm.txt"),
    ("copy-vector ark:inputs/bfv_src.ark ark:@", "ark/bfv.bin.ark"),
    ("copy-vector ark:inputs/bfv_src.ark ark,t:@", "ark/bfv.txt.ark"),
    ("copy-vector misc/obj.bfv.txt @", "misc/obj.bfv.bin"),
    ("copy-vector --binary=false misc/obj.bfv.bin @", "misc/obj.bfv.txt"),
    ("copy-int-vector ark:inputs/i32v.src.txt ark:@", "ark/i32v.bin.ark"),
    ("copy-int-vector ark:ark/i32v.bin.ark ark,t:@", "ark/i32v.tool.txt.ark"),
    ("copy-int-vector misc/obj.ivec.txt @", "misc/obj.ivec.bin"),
    ("copy-int-vector --binary=false misc/obj.ivec.bin @", "misc/obj.ivec.txt"),
    ("copy-int-vector-vector ark:ark/i32vv.bin.ark ark,t:@", "ark/i32vv.tool.txt.ark"),
    ("copy-post ark:inputs/post.src.txt ark:@", "ark/post.bin.ark"),
    ("copy-post ark:ark/post.bin.ark ark,t:@", "ark/post.tool.txt.ark"),
    ("copy-post --scale=0.5 ark:ark/post.bin.ark ark:@", "ark/post.scaled.ark"),
    ("post-to-weights ark:ark/post.bin.ark ark,t:@", "ark/post.weights.txt"),
    ("ali-to-post ark:ark/i32v.bin.ark ark,t:@", "ark/ali.post.txt.ark"),
    ("wav-copy scp:wav/wav.scp ark:@", "wav/wav.ark"),
    ("wav-to-duration scp:wav/wav.scp ark,t:@", "wav/durations.txt"),
    ("wav-to-duration ark:wav/wav.ark ark,t:@", "wav/durations.txt"),
    ("wav-to-duration --read-entire-file scp:wav/wav.scp ark,t:@", "wav/durations.txt"),
    (
        "extract-segments --min-segment-length=0.005 scp:wav/wav.scp wav/segments ark:@",
        "wav/segments.ark",
    ),
    ("fstcopy ark:fstlat/fst.bin.ark ark,t:@", "fstlat/fst.tool.txt"),
    ("fstcopy ark:inputs/fst.src.txt ark:@", "fstlat/fst.bin.ark"),
    ("lattice-copy ark:inputs/clat.src.txt ark:@", "fstlat/clat.bin.ark"),
    ("lattice-copy ark:fstlat/clat.bin.ark ark,t:@", "fstlat/clat.tool.txt"),
    (
        "lattice-copy --write-compact=false ark:fstlat/clat.bin.ark ark,t:@",
        "fstlat/clat_as_lat.txt",
    ),
    ("lattice-copy --write-compact=false ark:fstlat/clat.bin.ark ark:@", "fstlat/clat_as_lat.bin"),
    ("lattice-copy ark:fstlat/lat.bin.ark ark,t:@", "fstlat/lat_as_clat.txt"),
    ("lattice-copy ark:fstlat/lat.bin.ark ark:@", "fstlat/lat_as_clat.bin"),
    ("nnet3-copy-egs ark:fstlat/cegs.ark ark,t:@", "fstlat/cegs.txt.ark"),
    ("nnet3-copy-egs ark:fstlat/cegs.ark ark:@", "fstlat/cegs.ark"),
    ("nnet3-shuffle-egs --srand=1 ark:fstlat/cegs.ark ark:@", "fstlat/cegs.shuf.ark"),
    ("nnet3-subset-egs --srand=1 --n=2 ark:fstlat/cegs.ark ark:@", "fstlat/cegs.subset.ark"),
    ("nnet3-copy-egs ark:fstlat/egs_nocomp.ark ark,t:@", "fstlat/egs_nocomp.txt.ark"),
    ("nnet3-copy-egs scp:fstlat/egs_nocomp.scp ark:@", "fstlat/egs_nocomp.ark"),
    ("nnet3-copy-egs ark:fstlat/dense.egs.ark ark,t:@", "fstlat/dense.egs.txt.ark"),
];

#[test]
fn tables_are_written_as_kaldi_writes_them() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let here = WorkingDirectory::new();
    for directory in ["inputs", "ark", "misc", "wav", "htk", "fstlat"] {
        symlink(golden.join(directory), here.path().join(directory)).unwrap();
    }
    let mut failures = Vec::new();
    let mut check = |line: &str, file: &str| {
        let all = words(&line.replace('@', "out"));
        let called = call(&all[0], &all[1..]);
        if called.code != 0 {
            failures.push(format!("{line}: exit code {}\n{}", called.code, called.log));
        } else if fs::read("out").unwrap() != fs::read(golden.join(file)).unwrap() {
            failures.push(format!("{line}: not {file}"));
        }
        let _ = fs::remove_file("out");
    };
    for (line, file) in CALLS {
        check(line, file);
    }
    for method in 1..=7 {
        for (mode, end) in [("ark", "ark"), ("ark,t", "txt.ark")] {
            let line = format!(
                "copy-feats --compress=true --compression-method={method} ark:inputs/cm_src.ark {mode}:@"
            );
            check(&line, &format!("ark/cm_m{method}.{end}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn script_files_tell_the_places_in_archives() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let here = WorkingDirectory::new();
    symlink(golden.join("inputs"), here.path().join("inputs")).unwrap();
    fs::create_dir("ark").unwrap();
    let line = "copy-feats ark:inputs/bfm_src.ark ark,scp:ark/bfm.bin.ark,ark/bfm.bin.scp";
    let all = words(line);
    assert_eq!(call(&all[0], &all[1..]).code, 0);
    for file in ["ark/bfm.bin.ark", "ark/bfm.bin.scp"] {
        assert_eq!(fs::read(file).unwrap(), fs::read(golden.join(file)).unwrap(), "{file}");
    }
}

#[test]
fn features_become_htks_files() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let here = WorkingDirectory::new();
    symlink(golden.join("ark"), here.path().join("ark")).unwrap();
    let all = words("copy-feats-to-htk --output-dir=htk --output-ext=htk scp:three.scp");
    let script = fs::read_to_string("ark/bfm.bin.scp").unwrap();
    let three: String = script.lines().take(3).map(|line| format!("{line}\n")).collect();
    fs::write("three.scp", three).unwrap();
    let called = call(&all[0], &all[1..]);
    assert_eq!(called.code, 0, "{}", called.log);
    assert!(called.last().ends_with("3 HTK feature files generated in the direcory: htk"));
    for file in ["htk/utt-1x1.htk", "htk/utt-3x4.htk", "htk/utt-10x13.htk"] {
        assert_eq!(fs::read(file).unwrap(), fs::read(golden.join(file)).unwrap(), "{file}");
    }
}
