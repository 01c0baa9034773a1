//! `copy-feats`.

use seqfeed_core::Key;
use seqfeed_kaldi::{
    CompressedMatrix, CompressionMethod, Holder, HtkMatrix, Matrix, SphinxMatrix, TableWriter,
};

use crate::call::{Call, Outcome, Stop, abort, some, throw};
use crate::options::{opt, shown};
use crate::reading::is_rspecifier;
use crate::writing::close;

const USAGE: &str = "Copies features, and changes their form if asked to: text or binary, compressed or not.\n\
Usage: copy-feats [options] <feature-rspecifier> <feature-wspecifier>\n\
   or: copy-feats [options] <feats-rxfilename> <feats-wxfilename>\n\
e.g.: copy-feats ark:- ark,scp:foo.ark,foo.scp\n\
  or: copy-feats --compress ark:foo.ark ark:small.ark\n\
See also: copy-matrix, copy-feats-to-htk, select-feats, subset-feats, splice-feats, paste-feats\n";

/// The outputs for matrices, and for their lengths.
struct Sink {
    plain: Option<TableWriter<Matrix<f32>>>,
    compressed: Option<(TableWriter<CompressedMatrix>, CompressionMethod)>,
    lengths: Option<TableWriter<i32>>,
    done: u64,
}

impl Sink {
    fn write(&mut self, key: Key<'_>, matrix: &Matrix<f32>) -> Result<(), Stop> {
        if let Some((writer, method)) = &mut self.compressed {
            // Infinite values and NaN cannot be compressed: Kaldi aborts.
            let compressed = CompressedMatrix::compress(matrix, *method)
                .map_err(|error| Stop::abort(&error.of_key(key)))?;
            writer.write(key, &compressed)?;
        }
        if let Some(writer) = &mut self.plain {
            writer.write(key, matrix)?;
        }
        if let Some(writer) = &mut self.lengths {
            writer.write(key, &(matrix.rows as i32))?;
        }
        self.done += 1;
        Ok(())
    }

    fn close(self) -> Result<u64, Stop> {
        self.plain.map(close).transpose()?;
        self.compressed.map(|(writer, _)| close(writer)).transpose()?;
        self.lengths.map(close).transpose()?;
        Ok(self.done)
    }
}

pub(super) fn run(call: &mut Call<'_>) -> Outcome {
    let (mut binary, mut compress, mut method) = (true, false, 1);
    let (mut htk_in, mut sphinx_in) = (false, false);
    let mut lengths = String::new();
    let names = call.parse(
        USAGE,
        2..=2,
        &mut [
            opt("binary", &mut binary, "Write in binary mode (a single file; tables say so themselves)"),
            opt("compress", &mut compress, "Write compressed matrices (tables only)"),
            opt("compression-method", &mut method, "With --compress, the method (1 to 7)"),
            opt("htk-in", &mut htk_in, "Read HTK's parameter files"),
            opt("sphinx-in", &mut sphinx_in, "Read Sphinx's feature files"),
            opt(
                "write-num-frames",
                &mut lengths,
                "Wspecifier for the number of frames of each utterance, e.g. 'ark,t:utt2num_frames' (tables only)",
            ),
        ],
    )?;
    if !is_rspecifier(&names[0]) {
        return copy_file(call, &names, binary, compress, htk_in, &lengths);
    }
    let mut sink = Sink { plain: None, compressed: None, lengths: None, done: 0 };
    if compress {
        let Ok(method) = CompressionMethod::try_from(method) else {
            return throw(
                "ComputeGlobalHeader():matrix/compressed-matrix.cc:76",
                format_args!("Invalid compression type: {method}"),
            );
        };
        sink.compressed = Some((call.create(&names[1])?, method));
    } else {
        sink.plain = Some(call.create(&names[1])?);
    }
    if !lengths.is_empty() {
        sink.lengths = Some(call.create(&lengths)?);
    }
    if htk_in {
        copy_table(call, &names[0], &mut sink, |htk: &HtkMatrix| &htk.matrix)?;
    } else if sphinx_in {
        copy_table(call, &names[0], &mut sink, |sphinx: &SphinxMatrix| &sphinx.0)?;
    } else {
        copy_table(call, &names[0], &mut sink, |matrix: &Matrix<f32>| matrix)?;
    }
    let done = sink.close()?;
    call.log("main():featbin/copy-feats.cc:143", format_args!("Copied {done} feature matrices."));
    some(done)
}

fn copy_table<T: Holder + Default>(
    call: &mut Call<'_>,
    rspecifier: &str,
    sink: &mut Sink,
    matrix: fn(&T) -> &Matrix<f32>,
) -> Result<(), Stop> {
    let mut table = call.table::<T>(rspecifier)?;
    while let Some((key, value)) = table.next()? {
        sink.write(key, matrix(value))?;
    }
    table.close()
}

fn copy_file(
    call: &mut Call<'_>,
    names: &[String],
    binary: bool,
    compress: bool,
    htk_in: bool,
    lengths: &str,
) -> Outcome {
    if compress {
        return abort("single files are not compressed: write a table, such as ark:feats.ark");
    }
    if !lengths.is_empty() {
        return throw(
            "main():featbin/copy-feats.cc:148",
            "--write-num-frames option not supported when writing/reading single files.",
        );
    }
    let matrix = if htk_in {
        call.read_object::<HtkMatrix>(&names[0])?.matrix
    } else {
        call.read_object::<Matrix<f32>>(&names[0])?
    };
    call.write_object(&matrix, &names[1], binary)?;
    let (from, to) = (shown(&names[0], "standard input"), shown(&names[1], "standard output"));
    call.log(
        "main():featbin/copy-feats.cc:165",
        format_args!("Copied features from {from} to {to}"),
    );
    Ok(0)
}
