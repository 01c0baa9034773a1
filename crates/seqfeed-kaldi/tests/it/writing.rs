//! Tables that are written: what their readers find, and when.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use seqfeed_core::Key;
use seqfeed_io::Opener;
use seqfeed_kaldi::{SequentialReader, TableWriter, Vector};

const LONG: Duration = Duration::from_secs(60);

fn vector(value: f32) -> Vector<f32> {
    Vector(vec![value; 10])
}

#[test]
fn who_reads_the_script_file_from_a_pipe_finds_each_object_at_once() {
    for old in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).display().to_string();
        let (archive, fifo) = (at("o.ark"), at("fifo"));
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        if old {
            let mut table =
                TableWriter::create(&format!("ark:{archive}"), &Opener::default()).unwrap();
            table.write(Key(b"a"), &vector(-1.0)).unwrap();
            table.write(Key(b"b"), &vector(-2.0)).unwrap();
            table.close().unwrap();
        }
        let (sender, receiver) = mpsc::channel();
        let script = format!("scp:{fifo}");
        let reading = thread::spawn(move || {
            let reader = SequentialReader::<Vector<f32>>::open(&script, &Opener::default());
            for entry in reader.unwrap() {
                let (key, value) = entry.unwrap();
                sender.send((key, value.0[9])).unwrap();
            }
        });
        let name = format!("ark,scp,f:{archive},{fifo}");
        let mut table = TableWriter::create(&name, &Opener::default()).unwrap();
        for (key, value) in [(b"a", 1.0), (b"b", 2.0)] {
            table.write(Key(key), &vector(value)).unwrap();
            let found = receiver.recv_timeout(LONG).expect("the object while more is written");
            assert_eq!(found, (key.to_vec(), value), "old: {old}");
        }
        // After an error, what readers were told of stays.
        drop(table);
        reading.join().unwrap();
        assert!(fs::metadata(&archive).unwrap().len() > 50);
    }
}

#[test]
fn no_two_objects_go_to_one_file() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    symlink("a.vec", at("link")).unwrap();
    let create = |name: &str| TableWriter::<Vector<f32>>::create(name, &Opener::default());
    for other in ["a.vec", "./a.vec", "link"] {
        let lines = format!("a {}\nb {}\n", at("a.vec"), at(other));
        fs::write(at("names.scp"), lines).unwrap();
        let error = create(&format!("scp:{}", at("names.scp"))).unwrap_err();
        assert!(error.is_usage(), "{other}: {error}");
    }
    let error = create(&format!("ark,scp:{},{}", at("a.vec"), at("link"))).unwrap_err();
    assert!(error.is_usage(), "{error}");
    fs::write(at("names.scp"), "a /dev/null\nb /dev/null\n").unwrap();
    create(&format!("scp:{}", at("names.scp"))).unwrap();
}

#[test]
fn a_script_file_that_would_point_into_a_command_is_refused_before_it_starts() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let name = format!("ark,scp:|touch {},{}", at("started"), at("p.scp"));
    let error = TableWriter::<Vector<f32>>::create(&name, &Opener::with_pipes()).unwrap_err();
    assert!(error.to_string().contains("cannot point into"), "{error}");
    thread::sleep(Duration::from_millis(200));
    assert!(!directory.path().join("started").exists());
}
