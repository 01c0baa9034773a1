//! Standard input and output, in processes of their own: this test program, started again.

use std::env;
use std::io::{BufRead, Read, Write};
use std::process::{Command, Output as Ended, Stdio};

use seqfeed_io::{Compression, Input, Opener, Output, RxFilename, WxFilename};

use crate::support::{gzip, sample};

/// Says to a test that it runs in a process of its own.
const ALONE: &str = "SEQFEED_TEST_ALONE";

fn is_alone() -> bool {
    env::var_os(ALONE).is_some()
}

/// Runs a test of this module again in a process of its own.
fn alone(test: &str, stdin: &[u8]) -> Ended {
    let mut child = Command::new(env::current_exe().unwrap())
        .args([&format!("standard::{test}"), "--exact", "--nocapture"])
        .env(ALONE, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdin).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    ended
}

fn stdin() -> Input {
    Input::open(&RxFilename::parse("-").unwrap(), &Opener::default()).unwrap()
}

fn line(input: &mut Input) -> String {
    let mut line = String::new();
    input.read_line(&mut line).unwrap();
    line
}

fn lines_and_data() -> Vec<u8> {
    [b"first\nsecond\nthird\n".to_vec(), sample(300_000)].concat()
}

#[test]
fn readers_of_standard_input_share_it() {
    if !is_alone() {
        alone("readers_of_standard_input_share_it", &lines_and_data());
        alone("readers_of_standard_input_share_it", &gzip(&lines_and_data()));
        return;
    }
    let expected = lines_and_data();
    let mut one = stdin();
    assert_eq!(one.name(), "standard input");
    assert!(matches!(one.compression(), Compression::None | Compression::Gzip));
    assert_eq!(line(&mut one), "first\n");
    let mut two = stdin();
    assert_eq!(two.compression(), one.compression());
    assert_eq!(line(&mut two), "second\n");
    assert_eq!((one.position(), two.position()), (13, 13));
    assert_eq!(line(&mut one), "third\n");
    let mut data = vec![0; 100];
    two.read_exact(&mut data).unwrap();
    drop(two);
    let mut large = vec![0; 150_000];
    one.read_exact(&mut large).unwrap();
    data.extend(large);
    one.finish().unwrap();
    let mut three = stdin();
    assert_eq!(three.position(), 19 + 150_100);
    three.read_to_end(&mut data).unwrap();
    assert!(data == expected[19..]);
    assert_eq!(three.position(), expected.len() as u64);
}

#[test]
fn standard_input_may_be_empty() {
    if !is_alone() {
        alone("standard_input_may_be_empty", b"");
        return;
    }
    assert_eq!(line(&mut stdin()), "");
    assert_eq!(line(&mut stdin()), "");
}

#[test]
fn writers_of_standard_output_keep_their_order() {
    if !is_alone() {
        let ended = alone("writers_of_standard_output_keep_their_order", b"");
        let text = String::from_utf8(ended.stdout).unwrap();
        assert!(text.contains("<one two one>"), "{text}");
        assert!(text.contains("<as a file>"), "{text}");
        return;
    }
    let create = || Output::create(&WxFilename::parse("-").unwrap(), &Opener::default()).unwrap();
    let (mut one, mut two) = (create(), create());
    one.write_all(b"<one ").unwrap();
    two.write_all(b"two ").unwrap();
    one.write_all(b"one>\n").unwrap();
    assert_eq!(one.position(), None);
    Output::finish_together(vec![one, two]).unwrap();

    let name = WxFilename::parse("/dev/stdout").unwrap();
    let mut output = Output::create(&name, &Opener::default()).unwrap();
    assert_eq!(output.position(), None);
    output.write_all(b"<as a file>\n").unwrap();
    output.finish().unwrap();
}
