//! `seqfeed copy`: tables of any objects.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::corpora::corpus;
use crate::program::{run, shared};

fn copy(directory: &Path, arguments: &[&str]) -> Output {
    run(directory, &[&["copy"], arguments].concat())
}

/// Copies, and gives what went to standard output.
fn text(directory: &Path, arguments: &[&str]) -> String {
    let output = copy(directory, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(directory: &Path, arguments: &[&str]) -> (i32, String) {
    let output = copy(directory, arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{arguments:?}: {text}");
    (output.status.code().unwrap(), text)
}

fn keys(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.split(' ').next()).collect()
}

#[test]
fn tables_are_copied_byte_for_byte_whatever_they_hold() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(12).write(at);
    for table in ["feats.ark", "ali.ark"] {
        copy(at, &[&format!("ark:{table}"), "ark,scp:copy.ark,copy.scp"]);
        assert_eq!(
            fs::read(at.join("copy.ark")).unwrap(),
            fs::read(at.join(table)).unwrap(),
            "{table}"
        );
    }
    let script = fs::read_to_string(at.join("feats.scp")).unwrap().replace("feats.ark", "copy.ark");
    copy(at, &["scp:feats.scp", "ark,scp:copy.ark,copy.scp"]);
    assert_eq!(fs::read_to_string(at.join("copy.scp")).unwrap(), script);
    assert_eq!(
        text(at, &["ark:ali.ark", "ark:-", "--text"]),
        fs::read_to_string(at.join("ali.txt")).unwrap()
    );
    // Through a command, and back from text.
    let there = text(at, &["ark:cat ali.txt |", "ark:| cat > piped.ark"]);
    assert!(there.is_empty());
    assert_eq!(fs::read(at.join("piped.ark")).unwrap(), fs::read(at.join("ali.ark")).unwrap());
}

#[test]
fn types_can_be_given_where_they_cannot_be_told() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::write(at.join("a.txt"), "a 7\nb 8\n").unwrap();
    let copied = |name: &str| {
        let done = copy(at, &["ark:a.txt", "ark:x.ark", "--type", name]);
        assert!(done.status.success(), "{done:?}");
        fs::read(at.join("x.ark")).unwrap()
    };
    assert_eq!(copied("int32"), b"a \0B\x04\x07\0\0\0b \0B\x04\x08\0\0\0");
    assert_eq!(
        copied("int32-vector"),
        b"a \0B\x04\x01\0\0\0\x04\x07\0\0\0b \0B\x04\x01\0\0\0\x04\x08\0\0\0"
    );
    assert_eq!(copied("token"), b"a 7\nb 8\n");
    // By key, too.
    let sorted = copy(at, &["ark:a.txt", "ark:y.ark", "--type", "int32", "--sort"]);
    assert!(sorted.status.success());
    assert_eq!(fs::read(at.join("y.ark")).unwrap(), copied("int32"));
    let (code, said) = refused(at, &["ark:a.txt", "ark:x.ark", "--type", "matrix"]);
    assert_eq!(code, 2);
    assert!(said.contains("float-matrix"), "{said}");
}

#[test]
fn objects_are_chosen_by_key_order_and_number() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::write(at.join("t.txt"), "d 4\na 1\nc 3\nb 2\ne 5\n").unwrap();
    fs::write(at.join("list"), "c utterance three\n\ne\n").unwrap();
    let cases: [(&[&str], &[&str]); 9] = [
        (&[], &["d", "a", "c", "b", "e"]),
        (&["--sort"], &["a", "b", "c", "d", "e"]),
        (&["--select", "a,e"], &["a", "e"]),
        (&["--select", "@list"], &["c", "e"]),
        (&["--exclude", "@list"], &["d", "a", "b"]),
        (&["--select", "@list", "--exclude", "c"], &["e"]),
        (&["--head", "2"], &["d", "a"]),
        (&["--sort", "--head", "2", "--exclude", "a"], &["b", "c"]),
        (&["--head", "0"], &[]),
    ];
    for (arguments, expected) in cases {
        let copied = text(at, &[&["ark:t.txt", "ark,t:-"], arguments].concat());
        assert_eq!(keys(&copied), expected, "{arguments:?}");
    }
    let output = copy(at, &["ark:t.txt", "ark,t:-", "--select", "a,x,y"]);
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("2 keys not found: x, y") && said.contains("4 objects left out"),
        "{said}"
    );
    // Script files as well.
    corpus(5).write(at);
    let copied = text(at, &["scp:feats.scp", "ark,t:-", "--sort", "--select", "spk0-utt003"]);
    assert!(copied.starts_with("spk0-utt003  ["), "{copied}");
    // A key that is there twice has no place in a sorted table.
    fs::write(at.join("twice.txt"), "a 1\na 2\n").unwrap();
    let (code, said) = refused(at, &["ark:twice.txt", "ark:x", "--sort"]);
    assert!(code == 1 && said.contains("the key stands twice"), "{said}");
    // Sorting reads what passes once, too.
    let copied = text(at, &["ark:cat t.txt |", "ark,t:-", "--sort"]);
    assert_eq!(keys(&copied), ["a", "b", "c", "d", "e"]);
}

#[test]
fn a_table_is_split_into_runs() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(11).write(at);
    text(at, &["scp:feats.scp", "ark,scp:s.JOB.ark,s.JOB.scp", "--split", "3"]);
    let read = |n: usize| fs::read_to_string(at.join(format!("s.{n}.scp"))).unwrap();
    let lines: Vec<usize> = (1..=3).map(|n| read(n).lines().count()).collect();
    assert_eq!(lines, [3, 4, 4]);
    let all = [1, 2, 3].map(|n| fs::read(at.join(format!("s.{n}.ark"))).unwrap()).concat();
    assert_eq!(all, fs::read(at.join("feats.ark")).unwrap());
    text(at, &["ark:ali.ark", "ark:ali.ark2", "--split", "2", "--sort", "--head", "4"]);
    assert!(
        at.join("ali-00001-of-00002.ark2").exists() && at.join("ali-00002-of-00002.ark2").exists()
    );
    let (code, said) = refused(at, &["ark:cat ali.ark |", "ark:x.ark", "--split", "2"]);
    assert!(code == 2 && said.contains("copy it to a file first"), "{said}");
    let (code, said) = refused(at, &["ark:ali.ark", "ark:x.ark", "--split", "12"]);
    assert!(code == 2 && said.contains("11 objects cannot be split into 12 tables"), "{said}");
    assert!(!at.join("x-00001-of-00012.ark").exists());
}

#[test]
fn only_matrices_are_compressed() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(4).write(at);
    text(at, &["ark:feats.ark", "ark:c.ark", "--compress"]);
    let compressed = fs::read(at.join("c.ark")).unwrap();
    assert!(compressed.windows(4).any(|window| window == b"\0BCM"));
    let (code, said) = refused(at, &["ark:ali.ark", "ark:x.ark", "--compress=2"]);
    assert!(code == 1 && said.contains("int32-vector cannot be compressed"), "{said}");
    assert!(said.contains("spk0-utt000") && !at.join("x.ark").exists(), "{said}");
}

#[test]
fn damage_leaves_nothing_under_the_name() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(4).write(at);
    let feats = fs::read(at.join("feats.ark")).unwrap();
    fs::write(at.join("short.ark"), &feats[..feats.len() - 5]).unwrap();
    fs::write(at.join("x.ark"), "before").unwrap();
    for more in [&[][..], &["--sort"], &["--split", "2"]] {
        let (code, said) = refused(at, &[&["ark:short.ark", "ark:x.ark"], more].concat());
        assert!(code == 1 && said.contains("5 bytes are missing"), "{said}");
        assert_eq!(fs::read(at.join("x.ark")).unwrap(), b"before");
    }
    let output = copy(at, &["ark,p:short.ark", "ark:x.ark"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 object could not be read"));
    let (code, said) = refused(at, &["feats.ark", "ark:y.ark"]);
    assert!(code == 2 && said.contains("did you mean `ark:feats.ark`"), "{said}");
}

#[test]
fn all_golden_archives_are_copied_to_themselves() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let directory = tempfile::tempdir().unwrap();
    let (mut copied, mut pending) = (0, vec![golden.canonicalize().unwrap()]);
    let mut refused = Vec::new();
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("bad") && !path.ends_with("tools") {
                pending.push(path);
                continue;
            }
            // Kaldi writes memory that it never set into empty compressed matrices.
            let other = path.ends_with("cm_empty.ark");
            if other || path.extension().is_none_or(|end| end != "ark") {
                continue;
            }
            let from = format!("ark:{}", path.display());
            let mut arguments = vec![from.as_str(), "ark:x.ark"];
            // Binary objects and texts: it is no copy of itself. Its `[]` is a vector as well.
            let mixed = path.ends_with("mixed_bt.ark");
            if mixed {
                arguments.extend(["--type", "float-matrix"]);
            }
            let output = copy(directory.path(), &arguments);
            let bytes = fs::read(&path).unwrap();
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                refused.push((path.file_name().unwrap().to_string_lossy().into_owned(), said));
                continue;
            }
            // What Kaldi's copy of it is.
            let bytes =
                if mixed { fs::read(path.with_extension("out.ark")).unwrap() } else { bytes };
            // Texts are written as binary objects.
            if output.status.success() && bytes.windows(2).any(|two| two == b"\0B") {
                assert_eq!(
                    fs::read(directory.path().join("x.ark")).unwrap(),
                    bytes,
                    "{}",
                    path.display()
                );
                copied += 1;
            }
        }
    }
    assert!(copied >= 40, "{copied} archives");
    // Kaldi fails as well at the first object of the one.
    let mut names: Vec<&str> = refused.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    // Lines of the others are numbers whose width nothing says, and no type fits each line alone.
    let expected = ["d.txt.ark", "f.txt.ark", "i64.txt.ark", "tolerant.ark"];
    assert_eq!(names, expected, "{refused:#?}");
}

#[test]
fn one_type_is_found_for_a_table_from_all_of_its_objects() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    // By itself, each of these integers looks like something else.
    let numbers = "a 1 \nb 16777216 \nc 1000000000 \nd 2147483647 \ne 0 \n";
    fs::write(at.join("i.txt"), numbers).unwrap();
    text(at, &["ark:i.txt", "ark,scp:i.ark,i.scp", "--type", "int32"]);
    for table in ["ark:i.ark", "scp:i.scp", "ark,bg:i.ark"] {
        for more in [&[][..], &["--sort"]] {
            let output = copy(at, &[&[table, "ark,t:-"], more].concat());
            assert_eq!(String::from_utf8(output.stdout).unwrap(), numbers, "{table}");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                said.contains("note: the objects were taken for those of type int32\n"),
                "{said}"
            );
        }
    }
    // A posterior of two frames without entries has the bytes of a vector of two zeros; its
    // neighbour settles it.
    fs::write(at.join("post.txt"), "u1 [ ] [ ] \nu2 [ 1 0.5 ] [ 2 0.5 3 0.5 ] \n").unwrap();
    text(at, &["ark:post.txt", "ark:post.ark", "--type", "posterior"]);
    let output = copy(at, &["ark:post.ark", "ark,t:-"]);
    assert_eq!(output.stdout, fs::read(at.join("post.txt")).unwrap());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("taken for those of type posterior"), "{said}");
    fs::write(at.join("ali.txt"), "u1 0 0\nu2 4 5 6\nu3 \n").unwrap();
    text(at, &["ark:ali.txt", "ark:ali.ark", "--type", "int32-vector"]);
    let output = copy(at, &["ark:ali.ark", "ark,t:-"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("taken for"), "{output:?}");
}

#[test]
fn types_that_differ_in_their_values_are_not_guessed() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let cases: [(&str, &str, &str, &str); 6] = [
        ("float", "a 0.5\nb 0\nc -3.25\n", "float, int32", "a 0.5 \nb 0 \nc -3.25 \n"),
        ("double", "a 0.5\nb 2\n", "double, int64", "a 0.5 \nb 2 \n"),
        ("float-basic-vector", "a 0.5 1.5\n", "int32-vector", "a 0.5 1.5 \n"),
        ("double-basic-vector", "a 0.5 1.5\n", "", "a 0.5 1.5 \n"),
        ("posterior", "a [ ] [ ] \n", "int32-vector", "a [ ] [ ] \n"),
        ("int32", "a 1000000000\nb 1078530011\n", "float, int32", "a 1000000000 \nb 1078530011 \n"),
    ];
    for (name, lines, types, expected) in cases {
        fs::write(at.join("x.txt"), lines).unwrap();
        text(at, &["ark:x.txt", "ark:x.ark", "--type", name]);
        // With a type it is said what is meant, and bytes are copied as they are
        // whatever they mean.
        assert_eq!(text(at, &["ark:x.ark", "ark,t:-", "--type", name]), expected, "{name}");
        if types.is_empty() {
            continue;
        }
        text(at, &["ark:x.ark", "ark:y.ark"]);
        assert_eq!(fs::read(at.join("x.ark")).unwrap(), fs::read(at.join("y.ark")).unwrap());
        for table in ["ark:x.ark", "ark:cat x.ark |"] {
            let (code, said) = refused(at, &["--allow-pipes", table, "ark,t:y.txt"]);
            assert!(code == 1 && said.contains("--type"), "{table}: {said}");
            assert!(said.contains(types) || table.contains('|'), "{table}: {said}");
            assert!(!at.join("y.txt").exists());
        }
    }
    // Lines of a text that are of one type only together.
    fs::write(at.join("t.txt"), "a 1\nb 2.5\n").unwrap();
    let (_, said) = refused(at, &["ark:t.txt", "ark:t.ark"]);
    assert!(said.contains("float, double"), "{said}");
    text(at, &["ark:t.txt", "ark:t.ark", "--type", "float"]);
}

#[test]
fn text_that_32_bits_do_not_hold_is_read_as_doubles() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for (doubles, start) in
        [("m  [\n  1 2 \n  3 1e+300 ]\n", b"m \0BDM "), ("v  [ 1 -1e-300 ]\n", b"v \0BDV ")]
    {
        fs::write(at.join("d.txt"), doubles).unwrap();
        text(at, &["ark:d.txt", "ark:d.ark"]);
        assert!(fs::read(at.join("d.ark")).unwrap().starts_with(start));
        assert_eq!(text(at, &["ark:d.ark", "ark,t:-"]), doubles);
    }
    fs::write(at.join("i.txt"), "a 1 -9000000000 3 \n").unwrap();
    text(at, &["ark:i.txt", "ark:i.ark"]);
    let expected = [
        &b"a \0B\x04\x03\0\0\0\x08\x01\0\0\0\0\0\0\0\x08"[..],
        &(-9_000_000_000i64).to_le_bytes(),
        b"\x08\x03\0\0\0\0\0\0\0",
    ];
    assert_eq!(fs::read(at.join("i.ark")).unwrap(), expected.concat());
    assert_eq!(text(at, &["ark:i.ark", "ark,t:-"]), "a 1 -9000000000 3 \n");
}

#[test]
fn what_passes_once_is_decided_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    // All of them together are of one type, as in a file.
    let numbers = "a 1 \nb 16777216 \nc 1000000000 \nd 2147483647 \ne 0 \n";
    fs::write(at.join("i.txt"), numbers).unwrap();
    text(at, &["ark:i.txt", "ark:i.ark", "--type", "int32"]);
    for more in [&[][..], &["--sort"]] {
        let output = copy(at, &[&["ark:cat i.ark |", "ark,t:-"], more].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), numbers, "{said}");
        assert!(said.contains("note: the objects were taken for those of type int32\n"), "{said}");
    }
    // Text whose lines are of one type only together.
    fs::write(at.join("t.txt"), "a 1\nb 2.5\n").unwrap();
    // Objects that fit several types, and one whose type no other one tells.
    fs::write(at.join("f.txt"), "a 0.5\nb 3\n").unwrap();
    text(at, &["ark:f.txt", "ark:f.ark", "--type", "float"]);
    fs::write(at.join("v.txt"), "a 5 6 7\n").unwrap();
    text(at, &["ark:v.txt", "ark:v.ark", "--type", "int32-vector"]);
    fs::write(at.join("one.txt"), "z 1000000000\n").unwrap();
    text(at, &["ark:one.txt", "ark:one.ark", "--type", "int32"]);
    let files = ["v.ark", "one.ark"].map(|name| fs::read(at.join(name)).unwrap());
    fs::write(at.join("two.ark"), files.concat()).unwrap();
    let cases = [
        ("ark:cat t.txt |", "ark:-", "float, double", "(key a)", 0),
        ("ark:cat f.ark |", "ark,t:-", "float, int32", "(key a)", 0),
        ("ark:two.ark", "ark,t:-", "float, int32", "(key z)", 0),
        ("ark:cat two.ark |", "ark,t:-", "float, int32", "(key z)", 1),
    ];
    for (from, to, types, key, lines) in cases {
        let output = copy(at, &[from, to]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{from}: {said}");
        assert!(said.contains(types) && said.contains("--type"), "{from}: {said}");
        assert!(said.contains(key), "{from}: {said}");
        let written = output.stdout.iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(written, lines, "{from}: {}", output.stdout.escape_ascii());
        refused(at, &[from, &to.replace(":-", ":file")]);
        assert!(!at.join("file").exists());
    }
    // Bytes that stay as they are have no need of a type.
    text(at, &["ark:cat two.ark |", "ark:same.ark"]);
    assert_eq!(fs::read(at.join("same.ark")).unwrap(), fs::read(at.join("two.ark")).unwrap());
}

#[test]
fn entries_that_pass_once_are_read_once() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::write(at.join("i.txt"), "a 5 \nb 6 \n").unwrap();
    text(at, &["ark:i.txt", "ark,scp:i.ark,i.scp", "--type", "int32"]);
    let object = fs::read(at.join("i.ark")).unwrap()[2..9].to_vec();
    fs::write(at.join("object"), &object).unwrap();
    let script = fs::read_to_string(at.join("i.scp")).unwrap();
    fs::write(at.join("first.scp"), format!("001 -\n{script}")).unwrap();
    fs::write(at.join("last.scp"), format!("{script}001 -\n")).unwrap();
    fs::write(at.join("command.scp"), format!("{script}001 echo >> ran; cat object |\n")).unwrap();
    let values = "a 5 \nb 6 \n";
    for (name, expected) in [
        ("first.scp", format!("001 5 \n{values}")),
        ("last.scp", format!("{values}001 5 \n")),
        ("command.scp", format!("{values}001 5 \n")),
    ] {
        for more in [&[][..], &["--sort"]] {
            let mut command = crate::program::seqfeed(at, &["copy", "--allow-pipes"]);
            command.args([&format!("scp:{name}"), "ark,t:-"]).args(more);
            command.stdin(fs::File::open(at.join("object")).unwrap());
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let mut expected: Vec<&str> = expected.lines().collect();
            if !more.is_empty() {
                expected.sort_unstable();
            }
            let found = String::from_utf8(output.stdout).unwrap();
            assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{name}: {said}");
        }
    }
    assert_eq!(fs::read_to_string(at.join("ran")).unwrap(), "\n\n", "once a run");
}

#[test]
fn lines_that_only_words_fit_together_are_words() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    // Wherever the number stands: it is the name of a speaker.
    for lines in ["a 0103\nb spk\n", "b spk\na 0103\n", "a +1\nb x y\nc 1 02\n", "b x y\na 007\n"] {
        fs::write(at.join("u2s"), lines).unwrap();
        let one = lines.lines().all(|line| line.split(' ').count() == 2);
        let written = if one { lines.to_owned() } else { lines.replace('\n', " \n") };
        for table in ["ark:u2s", "ark:cat u2s |"] {
            assert_eq!(text(at, &[table, "ark:-"]), written, "{table}");
            let same = text(at, &[table, "ark,t:-"]);
            assert_eq!(same.replace(" \n", "\n"), lines, "{table}");
        }
        text(at, &["ark:u2s", "ark,t:sorted", "--sort"]);
        let sorted = fs::read_to_string(at.join("sorted")).unwrap();
        assert_eq!(keys(&sorted), {
            let mut all = keys(lines);
            all.sort_unstable();
            all
        });
        assert!(lines.lines().all(|line| sorted.contains(line)), "{sorted}");
    }
}

#[test]
fn numbers_that_their_type_writes_otherwise_are_not_guessed() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for lines in ["a 7\nb 0103\n", "a 5\nb +1\n", "a 1 2\nb 3 04\n", "a 1 ; 02 3 ;\n", "a 1e3 \n"] {
        fs::write(at.join("x.txt"), lines).unwrap();
        for table in ["ark:x.txt", "ark:cat x.txt |"] {
            let (code, said) = refused(at, &[table, "ark:x.ark"]);
            assert!(code == 1 && said.contains("--type") && said.contains("token"), "{said}");
            // As text, lines keep their words.
            let copied = text(at, &[table, "ark,t:-"]);
            assert_eq!(copied.replace(" \n", "\n"), lines.replace(" \n", "\n"), "{table}");
        }
        assert_eq!(
            text(at, &["ark:x.txt", "ark:-", "--type", "token-vector"]).trim_ascii_end(),
            lines.replace('\n', " \n").replace("  \n", " \n").trim_ascii_end()
        );
    }
    text(at, &["ark:x.txt", "ark:x.ark", "--type", "float"]);
    // An empty line is of any type that may be empty.
    fs::write(at.join("ali.txt"), "a \nb 5 6\nc \n").unwrap();
    text(at, &["ark:ali.txt", "ark:ali.ark"]);
    assert!(fs::read(at.join("ali.ark")).unwrap().starts_with(b"a \0B\x04\0\0\0\0b \0B\x04\x02"));
}

#[test]
fn a_matrix_of_one_row_is_a_matrix_among_matrices() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for lines in [
        "a [ 1 2\n 3 4 ]\nb [ 5 6 ]\nc [ ]\n",
        "b [ 5 6 ]\nc [ ]\na [ 1 2\n 3 4 ]\n",
        "b [ 5 6 ]\nc [ ]\na [ 1 2\n 1e300 4 ]\n",
    ] {
        fs::write(at.join("m.txt"), lines).unwrap();
        let stands = if lines.contains("1e300") { &b"\0BDM "[..] } else { b"\0BFM " };
        for table in ["ark:m.txt", "ark:cat m.txt |"] {
            for more in [&[][..], &["--sort"]] {
                text(at, &[&[table, "ark:m.ark"], more].concat());
                let bytes = fs::read(at.join("m.ark")).unwrap();
                let matrices = bytes.windows(5).filter(|five| *five == stands).count();
                assert_eq!(matrices, 3, "{table}: {}", bytes.escape_ascii());
            }
        }
    }
    fs::write(at.join("v.txt"), "a [ 1 2 ]\nb [ 5 6 ]\n").unwrap();
    let output = copy(at, &["ark:v.txt", "ark:v.ark"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("taken for"), "{output:?}");
    assert!(fs::read(at.join("v.ark")).unwrap().starts_with(b"a \0BFV "));
}

#[test]
fn what_p_passes_over_is_counted_and_named_in_any_order() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(4).write(at);
    let feats = fs::read(at.join("feats.ark")).unwrap();
    fs::write(at.join("short.ark"), &feats[..feats.len() - 5]).unwrap();
    let script = fs::read_to_string(at.join("feats.scp")).unwrap();
    fs::write(at.join("gone.scp"), script + "x gone.ark:5\ny gone.ark:9\n").unwrap();
    for (from, skipped, named) in [
        ("ark,p:short.ark", "1 object could not be read", "short.ark"),
        ("ark,p:cat short.ark |", "1 object could not be read", "short.ark"),
        ("scp,p:gone.scp", "2 objects could not be read", "gone.ark"),
    ] {
        for more in [&[][..], &["--sort"]] {
            let output = copy(at, &[&[from, "ark:x.ark"], more].concat());
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{from}: {said}");
            assert!(said.contains(skipped) && said.contains(named), "{from} {more:?}: {said}");
        }
    }
}
