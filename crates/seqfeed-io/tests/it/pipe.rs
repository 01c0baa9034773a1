//! Commands: allowed or not, failing, left early.

use std::fs;
use std::io::{BufRead, Read, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use seqfeed_core::{Error, ErrorKind, Result};
use seqfeed_io::{
    Compression, FailedCommand, Input, OnFailedCommand, Opener, Output, RxFilename, WxFilename,
};
use tempfile::tempdir;

use crate::support::{gzip, open, read_all, sample};

fn create(name: &str) -> Result<Output> {
    Output::create(&WxFilename::parse(name).unwrap(), &Opener::with_pipes())
}

#[test]
fn forbidden_unless_allowed() {
    let directory = tempdir().unwrap();
    let trace = directory.path().join("trace");
    let reading = RxFilename::parse(&format!("touch {}|", trace.display())).unwrap();
    let writing = WxFilename::parse(&format!("|touch {}", trace.display())).unwrap();
    let errors = [
        Input::open(&reading, &Opener::default()).err().unwrap(),
        Output::create(&writing, &Opener::default()).err().unwrap(),
    ];
    for error in errors {
        assert!(matches!(error.kind(), ErrorKind::Forbidden(_)), "{error}");
        let help = error.help().unwrap();
        assert!(help.contains("--allow-pipes"));
    }
    assert!(!trace.exists());
}

#[test]
fn output_of_a_command_is_read_and_decompressed() {
    let mut input = open("printf 'a b'; printf c |").unwrap();
    assert_eq!(read_all(&mut input).unwrap(), b"a bc");
    assert_eq!(input.position(), 4);
    input.finish().unwrap();

    let directory = tempdir().unwrap();
    let path = directory.path().join("x.gz");
    let data = sample(100_000);
    fs::write(&path, gzip(&data)).unwrap();
    let mut input = open(&format!("cat {}|", path.display())).unwrap();
    assert_eq!(input.compression(), Compression::Gzip);
    assert_eq!(read_all(&mut input).unwrap(), data);
    input.finish().unwrap();
}

#[test]
fn failing_commands_say_how() {
    let cases = [
        ("exit 3", "exit status 3"),
        ("seqfeed-no-such-command 2> /dev/null", "command not found"),
        ("kill -9 $$", "signal 9"),
    ];
    for (command, expected) in cases {
        let error = open(&format!("{command}|")).unwrap().finish().unwrap_err();
        let ErrorKind::Command { command: shown, status } = error.kind() else { panic!("{error}") };
        assert_eq!(shown, command);
        assert!(status.contains(expected), "{status}");
    }
}

/// Ways to read an input to its end.
type Way = (&'static str, fn(Input) -> Result<(), Error>);

const WAYS: &[Way] = &[
    ("read", |mut input| read_all(&mut input).map(drop).map_err(|error| input.error(error))),
    ("lines", |mut input| {
        let mut line = Vec::new();
        loop {
            match input.read_until(b'\n', &mut line) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                // As who does not ask the input for its error.
                Err(error) => return Err(Error::io("reading", error)),
            }
        }
    }),
    ("ensure", |mut input| {
        loop {
            match input.ensure(2).map(<[u8]>::len) {
                Ok(0) => return Ok(()),
                Ok(count) => input.consume(count),
                Err(error) => return Err(input.error(error)),
            }
        }
    }),
    ("skip", |mut input| {
        loop {
            match input.skip(2) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(input.error(error)),
            }
        }
    }),
    ("recorded", |input| {
        let (mut input, _recording) = input.recorded()?;
        read_all(&mut input).map(drop).map_err(|error| input.error(error))
    }),
    // All of its bytes and no more: how many there are is known from elsewhere.
    ("finish", |mut input| {
        input.read_exact(&mut [0; 3]).map_err(|error| input.error(error))?;
        input.finish()
    }),
];

#[test]
fn the_end_of_a_command_that_failed_is_an_error_however_it_is_come_to() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("abc.gz");
    fs::write(&path, gzip(b"abc")).unwrap();
    let packed = format!("cat {}; exit 3|", path.display());
    for (way, read) in WAYS {
        assert!(read(open("printf abc|").unwrap()).is_ok(), "{way}");
        for name in ["printf abc; exit 3|", "printf abc; sleep 0.05; exit 3|", &packed] {
            let error = read(open(name).unwrap()).expect_err(way);
            assert!(matches!(error.kind(), ErrorKind::Command { .. }), "{way}: {error}");
            assert!(error.to_string().contains("exit status 3"), "{way}: {error}");
        }
    }
    // The data are cut short because the command failed, not the other way round.
    let cut = format!("head -c 20 {}; exit 3|", path.display());
    let mut input = open(&cut).unwrap();
    let error = read_all(&mut input).map_err(|error| input.error(error)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Command { .. }), "{error}");
}

#[test]
fn who_wants_to_be_told_is_told_once_and_goes_on() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let open = |name: &str| {
        let told = Arc::clone(&told);
        let tell: OnFailedCommand = Arc::new(move |failed: &FailedCommand| {
            told.lock().unwrap().push((failed.command().to_owned(), failed.wait_status()));
        });
        let name = RxFilename::parse(name).unwrap();
        Input::open_telling(&name, &Opener::with_pipes(), Some(tell)).unwrap()
    };
    let take = || std::mem::take(&mut *told.lock().unwrap());
    for (way, read) in WAYS {
        read(open("printf abc; exit 3 |")).unwrap_or_else(|error| panic!("{way}: {error}"));
        assert_eq!(take(), [("printf abc; exit 3 ".to_owned(), 768)], "{way}");
        read(open("printf abc |")).unwrap();
        assert_eq!(take(), [], "{way}");
    }
    // Also if it is dropped at the end of what was wanted.
    let mut input = open("printf abc; kill -9 $$ |");
    input.read_exact(&mut [0; 3]).unwrap();
    drop(input);
    assert_eq!(take(), [("printf abc; kill -9 $$ ".to_owned(), 9)]);
    // What is left early fails by being left.
    drop(open("yes |"));
    assert_eq!(take(), []);
}

#[test]
fn a_command_left_early_is_no_error() {
    let mut input = open("yes|").unwrap();
    input.read_exact(&mut [0; 100]).unwrap();
    input.finish().unwrap();
    drop(open("yes|").unwrap());
}

#[test]
fn a_command_left_early_is_asked_how_it_ended() {
    for rest in ["", "; sleep 0.1", "; yes | head -c 300000"] {
        let mut input = open(&format!("printf abc{rest}; exit 3 |")).unwrap();
        input.read_exact(&mut [0; 2]).unwrap();
        let error = input.finish().unwrap_err();
        assert!(error.to_string().contains("exit status 3"), "{rest}: {error}");
    }
}

#[test]
fn commands_are_written_to_and_waited_for() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("out");
    let mut output = create(&format!("|sleep 0.1; cat > {}", path.display())).unwrap();
    let data = sample(200_000);
    output.write_all(&data).unwrap();
    assert_eq!(output.position(), None);
    output.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), data);
}

#[test]
fn a_command_that_fails_while_written_to_is_an_error() {
    let mut output = create("|cat > /dev/null; exit 4").unwrap();
    output.write_all(b"some").unwrap();
    let error = output.finish().unwrap_err();
    assert!(error.to_string().contains("exit status 4"), "{error}");

    // It has gone before anything was written: its status says more than the broken pipe.
    let mut output = create("|exit 5").unwrap();
    output.write_all(b"some").unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let error = output.finish().unwrap_err();
    assert!(error.to_string().contains("exit status 5"), "{error}");

    // It did not take everything, though it says it is content.
    let mut output = create("|exit 0").unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let written = output.write_all(&sample(1_000_000));
    let error = written.map_err(|error| output.error(error)).unwrap_err();
    assert!(error.help().unwrap().contains("gone"), "{error}");
}

#[test]
fn named_pipes_are_written_to_and_read() {
    let directory = tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let name = fifo.display().to_string();
    let data = sample(200_000);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut output = create(&name).unwrap();
            assert_eq!(output.position(), None);
            output.write_all(&data).unwrap();
            output.finish().unwrap();
        });
        let mut input = open(&format!("{name}:1000")).unwrap();
        assert_eq!(input.position(), 1000);
        assert_eq!(read_all(&mut input).unwrap(), data[1000..]);
        writer.join().unwrap();
    });
}

#[test]
fn dropping_closes_the_pipe_and_waits() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("out");
    let start = Instant::now();
    let mut output = create(&format!("|cat > {}", path.display())).unwrap();
    output.write_all(b"part").unwrap();
    drop(output);
    assert_eq!(fs::read(&path).unwrap(), b"part");
    assert!(start.elapsed() < Duration::from_secs(20));
}
