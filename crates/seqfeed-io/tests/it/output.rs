//! Files appear when they are complete, and not before.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use seqfeed_core::Result;
use seqfeed_io::{Opener, Output, WxFilename, write_atomically};
use tempfile::tempdir;

use crate::support::sample;

fn create(path: &Path) -> Result<Output> {
    Output::create(&path.into(), &Opener::default())
}

fn names_in(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_file_appears_when_finished() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("out");
    let data = sample(200_000);
    let mut output = create(&path).unwrap();
    assert_eq!(output.position(), Some(0));
    for part in data.chunks(999) {
        output.write_all(part).unwrap();
    }
    assert_eq!(output.position(), Some(200_000));
    output.flush_now().unwrap();
    assert!(!path.exists());
    output.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), data);
    assert_eq!(names_in(directory.path()), ["out"]);
    let plain = directory.path().join("plain");
    fs::write(&plain, b"").unwrap();
    assert_eq!(mode(&path), mode(&plain), "permissions as of any new file");
}

#[test]
fn dropped_unfinished_it_leaves_no_trace() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("out");
    fs::write(&path, b"old").unwrap();
    for target in [path.clone(), directory.path().join("new")] {
        let mut output = create(&target).unwrap();
        output.write_all(&sample(100_000)).unwrap();
        drop(output);
    }
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names_in(directory.path()), ["out"]);
}

#[test]
fn in_place_it_can_be_read_while_it_grows() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("growing");
    fs::write(&path, "old and long").unwrap();
    let name = WxFilename::parse(path.to_str().unwrap()).unwrap();
    let mut output = Output::create_in_place(&name, &Opener::default()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"");
    output.write_all(b"first").unwrap();
    assert_eq!((fs::read(&path).unwrap(), output.position()), (b"first".to_vec(), Some(5)));
    output.write_all(b" half").unwrap();
    output.take_back_to(5);
    assert_eq!((fs::read(&path).unwrap(), output.position()), (b"first".to_vec(), Some(5)));
    output.write_all(b", last").unwrap();
    drop(output);
    assert_eq!(fs::read(&path).unwrap(), b"first, last");
    assert_eq!(names_in(directory.path()), ["growing"]);
}

#[test]
fn permissions_and_links_stay() {
    let directory = tempdir().unwrap();
    let (path, link) = (directory.path().join("out"), directory.path().join("link"));
    fs::write(&path, b"old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    symlink("out", &link).unwrap();
    let mut output = create(&link).unwrap();
    output.write_all(b"new").unwrap();
    output.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(mode(&path), 0o640);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());

    let dangling = directory.path().join("dangling");
    symlink("made", &dangling).unwrap();
    create(&dangling).unwrap().finish().unwrap();
    assert!(directory.path().join("made").exists());
}

#[test]
fn outputs_that_belong_together_appear_together() {
    let directory = tempdir().unwrap();
    let paths = [directory.path().join("a.ark"), directory.path().join("a.scp")];
    let outputs = || -> Vec<_> { paths.iter().map(|path| create(path).unwrap()).collect() };
    Output::finish_together(outputs()).unwrap();
    assert!(paths.iter().all(|path| path.exists()));

    // One that fails keeps all from appearing.
    for path in &paths {
        fs::remove_file(path).unwrap();
    }
    let mut outputs = outputs();
    let failing = WxFilename::parse("|exit 1").unwrap();
    outputs.push(Output::create(&failing, &Opener::with_pipes()).unwrap());
    assert!(Output::finish_together(outputs).is_err());
    assert!(names_in(directory.path()).is_empty());
}

#[test]
fn what_points_into_others_is_removed_before_they_appear() {
    let directory = tempdir().unwrap();
    let paths = [directory.path().join("a.ark"), directory.path().join("a.scp")];
    paths.iter().for_each(|path| fs::write(path, b"old").unwrap());
    let outputs = || {
        let mut outputs: Vec<_> = paths.iter().map(|path| create(path).unwrap()).collect();
        outputs.iter_mut().for_each(|output| output.write_all(b"new").unwrap());
        outputs[1].set_points_into_others();
        outputs
    };
    // As if the process was killed between the two.
    let between = || {
        assert_eq!(fs::read(&paths[0]).unwrap(), b"old");
        assert!(!paths[1].exists(), "no script file for the new archive");
        Err(seqfeed_core::Error::usage("killed"))
    };
    Output::finish_together_with(outputs(), between).unwrap_err();
    assert_eq!(names_in(directory.path()), ["a.ark"]);
    Output::finish_together(outputs()).unwrap();
    assert!(paths.iter().all(|path| fs::read(path).unwrap() == b"new"));
}

#[test]
fn a_file_may_appear_while_it_is_written() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("a.ark");
    fs::write(&path, b"old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let old = fs::File::open(&path).unwrap();
    let mut output = create(&path).unwrap();
    output.write_all(b"one").unwrap();
    output.flush_now().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    output.appear_now().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");
    output.write_all(b" two").unwrap();
    output.appear_now().unwrap();
    assert_eq!(output.position(), Some(7));
    output.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one two");
    assert_eq!(mode(&path), 0o640);
    assert_eq!(std::io::read_to_string(old).unwrap(), "old", "readers of the old one keep it");
    assert_eq!(names_in(directory.path()), ["a.ark"]);
}

#[test]
fn commands_get_what_was_written_before_an_error() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("got");
    let name = WxFilename::parse(&format!("|cat > '{}'", path.display())).unwrap();
    let mut output = Output::create(&name, &Opener::with_pipes()).unwrap();
    output.write_all(b"abc").unwrap();
    drop(output);
    assert_eq!(fs::read(&path).unwrap(), b"abc");
}

#[test]
fn devices_are_written_to_directly() {
    let path = Path::new("/dev/null");
    let mut output = create(path).unwrap();
    output.write_all(b"abc").unwrap();
    assert_eq!(output.position(), Some(3));
    output.finish().unwrap();
    write_atomically(path, b"abc", true).unwrap();
    assert!(!fs::metadata(path).unwrap().is_file());
}

#[test]
fn full_disks_are_said_plainly() {
    let mut output = create(Path::new("/dev/full")).unwrap();
    output.write_all(b"abc").unwrap();
    let error = output.finish().unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
}

#[test]
fn what_cannot_be_created_says_so() {
    let directory = tempdir().unwrap();
    let error = create(&directory.path().join("absent/out")).err().unwrap();
    assert!(error.is_not_found());
    assert!(error.to_string().contains("(make it first)"), "{error}");
    assert!(create(directory.path()).is_err());
    assert!(create(&directory.path().join("absent/")).is_err());
    assert!(create(Path::new("")).is_err());
    symlink("loop", directory.path().join("loop")).unwrap();
    assert!(create(&directory.path().join("loop")).is_err());
}

#[test]
fn whole_files_at_once() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("out");
    write_atomically(&path, b"first", false).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    write_atomically(&path, b"second", true).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"second");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(names_in(directory.path()), ["out"]);
    let error = write_atomically(directory.path(), b"", false).unwrap_err();
    assert_eq!(error.place().file, Some(directory.path().display().to_string()));
}
