//! `feat-to-len`, `feat-to-dim`, `matrix-dim`: sizes, read from headers.

use seqfeed_kaldi::MatrixShape;

use crate::call::{Call, Outcome, throw};
use crate::reading::{is_rspecifier, is_wspecifier};
use crate::writing::close;

const LEN_USAGE: &str = "Writes the number of frames of each utterance; with one argument, prints how many there are in all.\n\
Usage: feat-to-len [options] <feature-rspecifier> [<length-wspecifier>]\n\
e.g.: feat-to-len scp:feats.scp ark,t:feats.lengths\n\
  or: feat-to-len scp:feats.scp\n";

pub(super) fn feat_to_len(call: &mut Call<'_>) -> Outcome {
    let names = call.parse(LEN_USAGE, 1..=2, &mut [])?;
    let mut table = call.table::<MatrixShape>(&names[0])?;
    let mut writer = names.get(1).map(|name| call.create::<i32>(name)).transpose()?;
    let mut total: u64 = 0;
    while let Some((key, shape)) = table.next()? {
        match &mut writer {
            Some(writer) => writer.write(key, &(shape.rows as i32))?,
            None => total += shape.rows as u64,
        }
    }
    table.close()?;
    match writer {
        Some(writer) => drop(close(writer)?),
        None => call.print(format!("{total}\n").as_bytes())?,
    }
    Ok(0)
}

const DIM_USAGE: &str = "Writes the dimension of features: of the first matrix to a file, or of each to a table.\n\
Usage: feat-to-dim [options] <feature-rspecifier> (<dim-wspecifier>|<dim-wxfilename>)\n\
e.g.: feat-to-dim scp:feats.scp -\n";

pub(super) fn feat_to_dim(call: &mut Call<'_>) -> Outcome {
    let names = call.parse(DIM_USAGE, 2..=2, &mut [])?;
    let mut table = call.table::<MatrixShape>(&names[0])?;
    if is_wspecifier(&names[1]) {
        let writer = call.create::<i32>(&names[1])?;
        call.each(table, writer, |_, key, shape, writer| {
            writer.write(key, &(shape.cols as i32))?;
            Ok(true)
        })?;
        return Ok(0);
    }
    let Some((_, shape)) = table.next()? else {
        let message = "Could not read any features (empty archive?)";
        return throw("main():featbin/feat-to-dim.cc:58", message);
    };
    let text = format!("{}\n", shape.cols);
    call.write_bytes(text.as_bytes(), &names[1])?;
    Ok(0)
}

const MATRIX_USAGE: &str = "Prints the size of a matrix, or of each matrix of a table: [key,] rows, columns, between tabs.\n\
Usage: matrix-dim [options] <matrix-in>|<in-rspecifier>\n\
e.g.: matrix-dim final.mat | cut -f 2\n\
See also: feat-to-len, feat-to-dim\n";

pub(super) fn matrix_dim(call: &mut Call<'_>) -> Outcome {
    let names = call.parse(MATRIX_USAGE, 1..=1, &mut [])?;
    if !is_rspecifier(&names[0]) {
        let MatrixShape { rows, cols } = call.read_object(&names[0])?;
        call.print(format!("{rows}\t{cols}\n").as_bytes())?;
        return Ok(0);
    }
    let mut table = call.table::<MatrixShape>(&names[0])?;
    let mut found = false;
    while let Some((key, shape)) = table.next()? {
        let mut line = key.0.to_vec();
        line.extend_from_slice(format!("\t{}\t{}\n", shape.rows, shape.cols).as_bytes());
        call.print(&line)?;
        found = true;
    }
    table.close()?;
    if !found {
        let message = format!("No features read from rspecifier '{}'", names[0]);
        call.warn("main():bin/matrix-dim.cc", message);
    }
    Ok(u8::from(!found))
}
