//! Options, usage, and what is refused.

use std::fs;

use crate::calls::{WorkingDirectory, call, words};

/// Calls a tool as a command line says it; exit code, standard output, log.
fn run(line: &str) -> (u8, String, String) {
    let all = words(line);
    let called = call(&all[0], &all[1..]);
    (called.code, String::from_utf8(called.out).unwrap(), called.log)
}

fn features() -> WorkingDirectory {
    let here = WorkingDirectory::new();
    fs::write("a.ark", "u1 [ 1 2\n3 4 ]\nu2 [ 5 6 ]\n").unwrap();
    here
}

#[test]
fn help_goes_to_the_log_and_ends_with_0() {
    for tool in seqfeed_kaldi_tools::TOOLS {
        let (code, out, log) = run(&format!("{} --help", tool.name));
        assert_eq!((code, out.as_str()), (0, ""), "{}", tool.name);
        assert!(log.starts_with('\n') && log.contains("\nUsage: "), "{log}");
        assert!(log.contains(&format!("Usage: {} ", tool.name)), "{log}");
        let standard =
            "Standard options:\n  --config                    : Configuration file to read";
        assert!(log.contains(standard), "{log}");
        assert!(log.ends_with("(int, default = 0)\n\n"), "{log}");
        // Without arguments, no tool does anything.
        let (code, out, log) = run(tool.name);
        assert_eq!((code, out.as_str()), (1, ""), "{}", tool.name);
        assert!(log.starts_with(&format!("{} \n\n", tool.name)), "{log}");
    }
}

#[test]
fn options_in_all_their_forms() {
    let _here = features();
    fs::write("conf", "# what to do\n--scale=3 # three times\n\n --apply_LOG=f\n").unwrap();
    let scaled = |options: &str| {
        let (code, _, log) = run(&format!("copy-matrix {options} ark:a.ark ark,t:b.ark"));
        assert_eq!(code, 0, "{log}");
        fs::read_to_string("b.ark").unwrap()
    };
    let doubled = "u1  [\n  2 4 \n  6 8 ]\nu2  [\n  10 12 ]\n";
    for options in
        ["--scale=2", "--SCALE=2", "--scale=5 --scale=2", "--scale=2 --", "--scale=' 2 '"]
    {
        assert_eq!(scaled(options), doubled, "{options}");
    }
    assert_eq!(scaled("--config=conf --scale=2"), doubled);
    assert_eq!(scaled("--scale=2 --config=conf"), doubled);
    assert!(scaled("--config=conf").starts_with("u1  [\n  3 6 \n"));
    let (_, _, log) = run("copy-matrix --print-args=false ark:a.ark ark,t:b.ark");
    assert_eq!(log, "LOG (copy-matrix[5.5.0]:main():bin/copy-matrix.cc:135) Copied 2 matrices.\n");
    let (_, _, log) = run("copy-matrix ark:a.ark 'ark,t:b c.ark'");
    assert!(log.starts_with("copy-matrix ark:a.ark 'ark,t:b c.ark' \n"), "{log}");
}

#[test]
fn wrong_calls_end_as_in_kaldi() {
    let _here = features();
    for (line, code, what) in [
        ("copy-feats ark:a.ark", 1, "Usage: copy-feats"),
        ("copy-feats ark:a.ark ark:b ark:c", 1, "Usage: copy-feats"),
        ("copy-feats --nosuch ark:a.ark ark:b", 255, "Invalid option --nosuch\n"),
        ("copy-feats --compress=maybe ark:a.ark ark:b", 255, "Invalid format for boolean"),
        ("copy-feats --compress= ark:a.ark ark:b", 255, "Invalid option --compress="),
        ("subset-feats --n=x ark:a.ark ark:b", 255, "Invalid integer option \"x\""),
        ("subset-feats --n ark:a.ark ark:b", 255, "Invalid integer option \"\""),
        ("copy-matrix --scale=1e99 ark:a.ark ark:b", 255, "Invalid floating-point option"),
        ("copy-feats --config=none ark:a.ark ark:b", 255, "Cannot open config file: none"),
        ("copy-feats --=1 ark:a.ark ark:b", 255, "Invalid option (no key): --=1"),
        ("copy-feats ark:none.ark ark:b", 255, "none.ark"),
        ("copy-feats ark:a.ark ark:none/b", 255, "none/b"),
        ("copy-feats ark,x:a.ark ark:b", 255, "ark,x:a.ark"),
        ("copy-feats ark:a.ark ark,x:b", 255, "ark,x:b"),
        (
            "copy-feats --compress --compression-method=9 ark:a.ark ark:b",
            255,
            "Invalid compression type: 9",
        ),
        ("copy-matrix a.ark ark:b", 255, "Cannot mix archives with regular files"),
        ("copy-matrix --apply-log --apply-exp ark:a.ark ark:b", 255, "Only one of"),
        ("select-feats 0,7 ark:a.ark ark:b", 255, "Invalid selection index: 7"),
        ("splice-feats --left-context=-1 ark:a.ark ark:b", 1, "must be 0 or more"),
        (
            "splice-feats --left-context=2000000000 ark:a.ark ark:b",
            1,
            "more than a matrix can have",
        ),
        ("subsample-feats --n=0 ark:a.ark ark:b", 1, "n must not be 0"),
        ("add-deltas --truncate=3 ark:a.ark ark:b", 255, "Cannot truncate features"),
        ("add-deltas --delta-window=0 ark:a.ark ark:b", 1, "--delta-window=0"),
        ("apply-cmvn --norm-means=false --norm-vars x ark:a.ark ark:b", 255, "but not the mean"),
        ("apply-cmvn --skip-dims=a x ark:a.ark ark:b", 255, "colon-separated"),
        ("apply-cmvn ark:a.ark ark:a.ark ark:b", 255, "(key u1): Dim mismatch"),
        ("extract-feature-segments --frame-shift=0 ark:a.ark a.ark ark:b", 1, "--frame-shift=0"),
        ("nnet3-subset-egs --n=0 ark:a.ark ark:b", 1, "--n=0"),
        (
            "copy-feats ark:o,s,cs:none ark:b",
            255,
            "options stand before the colon: `ark,o,s,cs:none`",
        ),
        ("paste-feats ark:a.ark 'scp:s cs:none' ark:b", 255, "before the colon: `scp,s,cs:none`"),
        ("nnet3-copy-egs --frame=x ark:a.ark ark:b", 255, "Invalid option --frame='x'"),
        ("nnet3-copy-egs --keep-proportion=-1 ark:a.ark ark:b", 1, "--keep-proportion"),
        ("copy-feats ark:a.ark 'ark:| exit 3'", 1, "exit status 3"),
        ("copy-feats 'ark:cat a.ark; exit 3 |' ark:b", 1, "exit status 3"),
        ("copy-feats ark:/dev/null ark:b2", 1, "Copied 0 feature matrices."),
    ] {
        let (found, _, log) = run(line);
        assert_eq!(found, code, "{line}: {log}");
        assert!(log.contains(what), "{line}: {log}");
        assert!(!fs::exists("b").unwrap(), "{line}");
    }
}

#[test]
fn damage_leaves_no_output_unless_it_is_permitted() {
    let _here = features();
    let (code, _, _) = run("copy-feats ark:a.ark ark:whole.ark");
    assert_eq!(code, 0);
    let whole = fs::read("whole.ark").unwrap();
    fs::write("cut.ark", &whole[..whole.len() - 1]).unwrap();
    let (code, _, log) = run("copy-feats ark:cut.ark ark,t:b");
    assert_eq!(code, 1, "{log}");
    assert!(log.contains("ERROR (copy-feats[5.5.0]) cut.ark @") && log.contains("key u2"), "{log}");
    assert!(!fs::exists("b").unwrap());
    // Kaldi stops at the damage, too, and is content.
    let (code, _, log) = run("copy-feats ark,p:cut.ark ark,t:b");
    assert_eq!((code, fs::read_to_string("b").unwrap().as_str()), (0, "u1  [\n  1 2 \n  3 4 ]\n"));
    assert!(
        log.contains("WARNING (copy-feats[5.5.0]) skipped (permissive mode): cut.ark @"),
        "{log}"
    );
    assert!(log.ends_with("Copied 1 feature matrices.\n"), "{log}");
    fs::write("some.scp", "u0 none.ark:3\nu2 whole.ark:3\n").unwrap();
    assert_eq!(run("copy-feats scp:some.scp ark,t:c").0, 255);
    assert_eq!(run("copy-feats scp,p:some.scp ark,t:c").0, 0);
    assert_eq!(run("feat-to-len scp,p:some.scp").1, "2\n");
}

#[test]
fn commands_run_only_where_they_may() {
    let _here = features();
    fs::write("cmd.scp", "u1 cat one.mat |\n").unwrap();
    fs::write("one.mat", "[ 1 2 ]").unwrap();
    let all = words("copy-feats scp:cmd.scp ark,t:b");
    assert_eq!(call(&all[0], &all[1..]).code, 0);
    let (mut out, mut log) = (Vec::new(), Vec::new());
    let around = seqfeed_kaldi_tools::Surroundings {
        opener: seqfeed_io::Opener::default(),
        out: &mut out,
        log: &mut log,
    };
    let tool = seqfeed_kaldi_tools::find("copy-feats").unwrap();
    assert_eq!(tool.run("copy-feats", &all[1..], around), 255);
    assert!(String::from_utf8(log).unwrap().contains("not allowed"));
}
