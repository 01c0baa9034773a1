//! `copy-feats-to-htk`.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use seqfeed_io::{Output, make_directory, name_from_text, path_from_text};
use seqfeed_kaldi::{HtkMatrix, Matrix, Mode, write_object};

use crate::call::{Call, Outcome, some, throw};
use crate::options::opt;

const USAGE: &str = "Writes features as HTK's files, one a key: DIR/KEY.EXT.\n\
Usage: copy-feats-to-htk [options] <in-rspecifier>\n\
e.g.: copy-feats-to-htk --output-dir=/tmp/HTK-features --output-ext=fea scp:feats.scp\n";

const PLACE: &str = "main():featbin/copy-feats-to-htk.cc";

pub(super) fn run(call: &mut Call<'_>) -> Outcome {
    let (mut directory, mut extension) = ("./".to_owned(), "fea".to_owned());
    let (mut period, mut kind) = (100_000, 9);
    let names = call.parse(
        USAGE,
        1..=1,
        &mut [
            opt("output-ext", &mut extension, "Extension of the files' names"),
            opt("output-dir", &mut directory, "Directory of the files; made if it is not there"),
            opt("sample-period", &mut period, "Time from frame to frame, in units of 100 ns"),
            opt(
                "sample-kind",
                &mut kind,
                "Code of the parameter kind (6: MFCC, 7: FBANK, 9: USER, 11: PLP)",
            ),
        ],
    )?;
    let Ok(kind) = u16::try_from(kind) else {
        return throw(PLACE, format_args!("the sample kind {kind} does not fit 16 bits"));
    };
    let made = path_from_text(&directory);
    if let Err(error) = make_directory(&made, 0o750) {
        let message = format!("Could not create output directory: {directory} ({error})");
        return throw(PLACE, message);
    }
    let mut table = call.table::<Matrix<f32>>(&names[0])?;
    let mut done = 0;
    while let Some((key, features)) = table.next()? {
        // Joined as in Kaldi: a key may contain directories.
        let mut path = made.clone().into_os_string();
        path.push("/");
        path.push(OsStr::from_bytes(key.0));
        path.push(".");
        path.push(name_from_text(&extension));
        let matrix = std::mem::take(features);
        let htk = HtkMatrix { matrix, sample_period: period, kind };
        let mut bytes = Vec::new();
        write_object(&htk, &mut bytes, Mode::Binary).map_err(|error| error.of_key(key))?;
        // A key is a path here, never a command.
        let mut output = Output::create(&PathBuf::from(path).into(), call.opener())?;
        output.write_all(&bytes).map_err(|error| output.error(error))?;
        output.finish()?;
        done += 1;
    }
    table.close()?;
    call.log(
        PLACE,
        format_args!("{done} HTK feature files generated in the direcory: {directory}"),
    );
    some(done)
}
