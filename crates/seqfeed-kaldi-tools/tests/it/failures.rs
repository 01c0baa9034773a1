//! What readers notice: commands that failed, damage that `p` passes over, ranges beyond the end.

use std::fs;

use crate::calls::{Called, WorkingDirectory, call, words};

/// A directory with an archive, an object, a script file and lists.
fn here() -> WorkingDirectory {
    let here = WorkingDirectory::new();
    fs::write("f.ark", "u1  [\n1 2\n3 4 ]\nu2  [\n5 6 ]\n").unwrap();
    fs::write("f.scp", "u1 f.ark:3\nu2 f.ark:20\n").unwrap();
    fs::write("cmvn.ark", "s1  [\n1 2 2\n1 2 0 ]\n").unwrap();
    fs::write("utt2spk", "u1 s1\nu2 s1\n").unwrap();
    fs::write("spk2utt", "s1 u1 u2\n").unwrap();
    fs::write("one.mat", " [\n1 2\n3 4 ]\n").unwrap();
    fs::write("two.mat", " [\n1 0\n0 1 ]\n").unwrap();
    fs::write("v.vec", " [ 1 2 ]\n").unwrap();
    fs::write("a.ark", "u1 1 2\nu2 3\n").unwrap();
    fs::write("keys", "u1\nu2\n").unwrap();
    fs::write("segments", "u1-a u1 0 0.02\n").unwrap();
    fs::write("wav.scp", "u1 one.wav\n").unwrap();
    fs::write("wav_segments", "u1-a u1 0 0.2\n").unwrap();
    let mut wave = b"RIFF\x64\x06\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    wave.extend(4000u32.to_le_bytes());
    wave.extend(8000u32.to_le_bytes());
    wave.extend(b"\x02\0\x10\0data\x40\x06\0\0");
    wave.resize(44 + 1600, 1);
    fs::write("one.wav", wave).unwrap();
    here
}

fn run(line: &str) -> Called {
    let all = words(line);
    call(&all[0], &all[1..])
}

fn warnings(called: &Called) -> Vec<&str> {
    called.log.lines().filter(|line| line.starts_with("WARNING ")).collect()
}

/// Calls in which the name `{NAME}` is read, by all ways in which the tools read names.
const NAMES: &[(&str, &str)] = &[
    ("copy-matrix --binary=false '{}' out", "one.mat"),
    ("copy-vector --binary=false '{}' out", "v.vec"),
    ("copy-feats '{}' out", "one.mat"),
    ("matrix-sum --binary=false two.mat '{}' out", "one.mat"),
    ("vector-sum --binary=false v.vec '{}' out", "v.vec"),
    ("transform-feats '{}' ark:f.ark ark,t:out", "two.mat"),
    (
        "transform-feats --utt2spk='ark:{}' 'ark:sed s/u1/s1/ f.ark |' ark:f.ark ark,t:out",
        "utt2spk",
    ),
    ("apply-cmvn --utt2spk='ark:{}' ark:cmvn.ark ark:f.ark ark,t:out", "utt2spk"),
    ("apply-cmvn --utt2spk='ark,s,cs:{}' ark:cmvn.ark ark:f.ark ark,t:out", "utt2spk"),
    ("apply-cmvn --utt2spk=ark:utt2spk 'ark:{}' ark:f.ark ark,t:out", "cmvn.ark"),
    ("paste-feats ark:f.ark 'ark:{}' ark,t:out", "f.ark"),
    ("paste-feats ark:f.ark 'ark,s:{}' ark,t:out", "f.ark"),
    ("paste-feats ark:f.ark 'ark,s,cs:{}' ark,t:out", "f.ark"),
    ("paste-feats ark:f.ark 'scp:{}' ark,t:out", "f.scp"),
    ("copy-feats 'scp:{}' ark,t:out", "f.scp"),
    ("copy-feats 'scp,bg:{}' ark,t:out", "f.scp"),
    ("subset-feats --include='{}' ark:f.ark ark,t:out", "keys"),
    ("subset-feats --exclude='{}' ark:f.ark ark,t:out", "segments"),
    (
        "extract-feature-segments --frame-length=10 --min-segment-length=0.01 ark:f.ark '{}' ark,t:out",
        "segments",
    ),
    ("extract-segments scp:wav.scp '{}' ark:out", "wav_segments"),
    ("extract-segments 'scp:{}' wav_segments ark:out", "wav.scp"),
    ("wav-copy '{}' out", "one.wav"),
];

#[test]
fn a_command_that_gave_all_and_failed_is_a_warning_as_in_kaldi() {
    let _here = here();
    for (line, file) in NAMES {
        let plain = run(&line.replace("{}", file));
        let wanted = fs::read("out").ok();
        assert_eq!((plain.code, warnings(&plain)), (0, Vec::new()), "{line}: {}", plain.log);
        assert!(wanted.is_some(), "{line}");
        fs::remove_file("out").unwrap();
        let command = format!("cat {file}; exit 3 |");
        let line = line.replace("{}", &command);
        let failing = run(&line);
        assert_eq!((failing.code, fs::read("out").ok()), (0, wanted), "{line}: {}", failing.log);
        let name = words(&line)[0].clone();
        let warning = format!(
            "WARNING ({name}[5.5.0]:Close():util/kaldi-io.cc:515) Pipe {command} had nonzero return status 768"
        );
        assert_eq!(warnings(&failing), [warning], "{line}");
        let _ = fs::remove_file("out");
    }
    // The same for each entry of a script file.
    fs::write("c.scp", "u1 cat one.mat; exit 3 |\nu2 cat one.mat; exit 4 |\n").unwrap();
    for line in [
        "copy-feats scp:c.scp ark,t:out",
        "copy-feats scp,p:c.scp ark,t:out",
        "copy-feats scp,p,bg:c.scp ark,t:out",
        "paste-feats ark:f.ark scp:c.scp ark,t:out",
        "paste-feats ark:f.ark scp,p:c.scp ark,t:out",
    ] {
        let called = run(line);
        assert_eq!(called.code, 0, "{line}: {}", called.log);
        let said = warnings(&called);
        let status = |status| said.iter().filter(|said| said.ends_with(status)).count();
        assert_eq!((status(" status 768"), status(" status 1024")), (1, 1), "{line}: {said:?}");
    }
}

#[test]
fn an_archive_of_a_failed_command_may_lack_something_and_is_an_error() {
    let _here = here();
    for line in [
        "copy-feats 'ark:cat f.ark; exit 3 |' ark,t:out",
        "copy-feats 'ark,bg:cat f.ark; exit 3 |' ark,t:out",
        "copy-feats 'ark:head -c 30 f.ark; exit 3 |' ark,t:out",
        "compute-cmvn-stats 'ark:cat f.ark; exit 3 |' out",
    ] {
        let called = run(line);
        assert_eq!(called.code, 1, "{line}: {}", called.log);
        assert!(called.last().contains("exit status 3"), "{line}: {}", called.log);
        assert!(fs::read("out").is_err(), "{line}");
    }
    // An object that is not whole is an error as well, and the warning says why.
    let called = run("copy-matrix 'head -c 8 one.mat; exit 3 |' out");
    assert_eq!(called.code, 255, "{}", called.log);
    assert!(called.log.contains("had nonzero return status 768"), "{}", called.log);
}

#[test]
fn damage_that_p_passes_over_is_named_once() {
    let _here = here();
    fs::write("cut.ark", "u1  [\n1 2\n3 4 ]\nu2  [\n5 ").unwrap();
    fs::write("p.scp", "u1 f.ark:3\nu2 none.ark:5\n").unwrap();
    for (line, named) in [
        ("copy-feats scp,p:p.scp ark,t:out", "none.ark"),
        ("copy-feats scp,p,bg:p.scp ark,t:out", "none.ark"),
        ("copy-feats ark,p:cut.ark ark,t:out", "cut.ark"),
        ("paste-feats ark:f.ark scp,p:p.scp ark,t:out", "none.ark"),
        ("transform-feats scp,p:p.scp ark:f.ark ark,t:out", "none.ark"),
        ("paste-feats ark:f.ark ark,p:cut.ark ark,t:out", "cut.ark"),
        ("paste-feats ark:f.ark ark,p,s:cut.ark ark,t:out", "cut.ark"),
        ("paste-feats ark:f.ark ark,p,s,cs:cut.ark ark,t:out", "cut.ark"),
        ("paste-feats ark:f.ark 'ark,p:cat cut.ark |' ark,t:out", "cut.ark"),
    ] {
        let called = run(line);
        assert_eq!(called.code, 0, "{line}: {}", called.log);
        let said: Vec<&str> = warnings(&called)
            .into_iter()
            .filter(|said| said.contains("skipped (permissive mode): "))
            .collect();
        assert_eq!(said.len(), 1, "{line}: {}", called.log);
        assert!(said[0].contains(named) && said[0].contains("u2"), "{line}: {said:?}");
    }
    // All of them are named, also those for which nothing else is logged.
    let many: String = (0..30).map(|number| format!("u{number:02} none{number}.ark:5\n")).collect();
    fs::write("many.scp", many + "v f.ark:3\n").unwrap();
    assert_eq!(warnings(&run("copy-feats scp,p:many.scp ark,t:out")).len(), 30);
}

#[test]
fn ranges_that_go_beyond_the_end_are_told() {
    let _here = here();
    fs::write("r.scp", "u1 f.ark:3[0:3]\nu2 f.ark:3[1:1]\n").unwrap();
    let matrix = "ParseMatrixRangeSpecifier():util/kaldi-holder.cc:82) Row range 0:3 goes beyond the number of \
                  rows of the matrix 2";
    for line in [
        "copy-feats scp:r.scp ark,t:out",
        "paste-feats ark:f.ark scp:r.scp ark,t:out",
        "copy-matrix 'one.mat[0:3]' out",
    ] {
        let called = run(line);
        assert_eq!(called.code, 0, "{line}: {}", called.log);
        let name = &words(line)[0];
        let said: Vec<&str> =
            warnings(&called).into_iter().filter(|said| said.contains("goes beyond")).collect();
        assert_eq!(said, [format!("WARNING ({name}[5.5.0]:{matrix}")], "{line}");
    }
    let called = run("copy-vector 'v.vec[1:3]' out");
    assert!(called.log.contains("Range 1:3 goes beyond the vector dimension 2"), "{}", called.log);
}

#[test]
fn a_table_is_not_written_over_what_it_is_made_of() {
    let _here = here();
    fs::write("o.scp", "u1 f.ark\nu2 new\n").unwrap();
    fs::hard_link("cmvn.ark", "hard").unwrap();
    for line in [
        "apply-cmvn --utt2spk=ark:utt2spk ark:cmvn.ark ark:f.ark ark:cmvn.ark",
        "apply-cmvn --utt2spk=ark:utt2spk ark:cmvn.ark ark:f.ark ark:hard",
        "apply-cmvn --utt2spk=ark:utt2spk ark:cmvn.ark ark:f.ark ark:utt2spk",
        "copy-feats ark:f.ark ark:f.ark",
        "copy-feats ark:f.ark ark,scp:new,f.ark",
        "copy-feats scp:f.scp ark:f.scp",
        "copy-feats scp:f.scp ark:f.ark",
        "copy-feats ark:f.ark scp:o.scp",
        "paste-feats ark:f.ark scp:f.scp ark:f.ark",
        "feat-to-len scp:f.scp ark,t:f.ark",
    ] {
        let before = ["f.ark", "f.scp", "cmvn.ark", "utt2spk"].map(|name| fs::read(name).unwrap());
        let called = run(line);
        assert_eq!(called.code, 255, "{line}: {}", called.log);
        assert!(called.last().contains("it is read here"), "{line}: {}", called.log);
        let after = ["f.ark", "f.scp", "cmvn.ark", "utt2spk"].map(|name| fs::read(name).unwrap());
        assert!(before == after, "{line}");
    }
    // A single object is read before it is written.
    for line in ["copy-matrix one.mat one.mat", "matrix-sum one.mat two.mat one.mat"] {
        let called = run(line);
        assert_eq!(called.code, 0, "{line}: {}", called.log);
    }
}

#[test]
fn objects_without_a_name_to_write_to_are_counted() {
    let _here = here();
    fs::write("gap.scp", "u2 new\n").unwrap();
    let called = run("copy-feats ark:f.ark scp,p:gap.scp");
    assert_eq!(called.code, 0, "{}", called.log);
    assert_eq!(
        warnings(&called),
        [
            "WARNING (copy-feats[5.5.0]) 1 objects not written (permissive mode): the script file has no \
          names for their keys"
        ]
    );
    assert!(called.last().ends_with("Copied 2 feature matrices."), "{}", called.log);
}

#[test]
fn the_last_line_of_a_list_may_have_no_end() {
    let _here = here();
    fs::write("segments", "u1-a u1 0 0.01\nu1-b u1 0.01 0.02").unwrap();
    let called = run(
        "extract-feature-segments --frame-length=10 --min-segment-length=0.005 ark:f.ark segments ark,t:out",
    );
    assert_eq!(called.code, 0, "{}", called.log);
    let keys = fs::read_to_string("out").unwrap();
    assert!(keys.contains("u1-a") && keys.contains("u1-b"), "{keys}");
}
