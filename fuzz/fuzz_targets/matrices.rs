//! Compressed, packed, sparse and general matrices.
#![no_main]

use checks::{choose, object, object_in};
use seqfeed_kaldi::{
    CompressedMatrix, CompressionMethod, GeneralMatrix, Matrix, Mode, ObjectReader, PackedMatrix,
    Range, SparseMatrix, SparseVector,
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = choose(bytes) else { return };
    match choice % 8 {
        // Text of values that cannot be compressed cannot be read as a compressed matrix.
        0 => object_in::<CompressedMatrix>(bytes, &[Mode::Binary]),
        1 => object::<GeneralMatrix>(bytes),
        2 => object::<PackedMatrix<f32>>(bytes),
        3 => object::<PackedMatrix<f64>>(bytes),
        4 => object::<SparseMatrix<f32>>(bytes),
        5 => object::<SparseVector<f64>>(bytes),
        // Any matrix, by any method; any part of it.
        choice => {
            let read = ObjectReader::from_bytes("fuzz", bytes).read::<Matrix<f32>>();
            let Ok(matrix) = read else { return };
            for method in CompressionMethod::ALL {
                let Ok(compressed) = CompressedMatrix::compress(&matrix, method) else { continue };
                let whole = compressed.to_matrix::<f32>();
                assert_eq!((whole.rows, whole.cols), (matrix.rows, matrix.cols));
                let last = u32::from(choice);
                let range = Range { rows: Some((last / 2, last)), cols: Some((0, 0)) };
                let _ = compressed.part::<f64>(&range);
            }
        }
    }
});
