//! What is written is read back.

use std::fs;

use proptest::prelude::*;
use seqfeed_core::{Element, Extent, Key};
use seqfeed_io::Opener;
use seqfeed_kaldi::{Matrix, TableOptions, TableWriter, Vector};

use crate::tables::{contents, features, labels};

fn write<T: seqfeed_kaldi::Holder>(wspecifier: &str, values: &[T]) {
    let mut table = TableWriter::create(wspecifier, &Opener::default()).unwrap();
    for (number, value) in values.iter().enumerate() {
        table.write(Key(format!("utt{number}").as_bytes()), value).unwrap();
    }
    table.close().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn matrices(
        sizes in prop::collection::vec(1usize..9, 1..6),
        cols in 1usize..5,
        values in prop::collection::vec(any::<f32>(), 200),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).display().to_string();
        let matrices: Vec<Matrix<f32>> = sizes
            .iter()
            .map(|&rows| Matrix { rows, cols, values: values[..rows * cols].to_vec() })
            .collect();
        write(&format!("ark,scp:{},{}", path("a.ark"), path("a.scp")), &matrices);
        let archive = contents("ark:a.ark", &features(directory.path())).unwrap();
        let script = contents("scp:a.scp", &features(directory.path())).unwrap();
        let mapped = TableOptions { map: true, ..features(directory.path()) };
        prop_assert_eq!(&archive, &script);
        prop_assert_eq!(&archive, &contents("scp:a.scp", &mapped).unwrap());
        for (matrix, (_, bytes)) in matrices.iter().zip(&archive) {
            let expected: Vec<u8> = matrix.values.iter().flat_map(|v| v.to_ne_bytes()).collect();
            prop_assert_eq!(&expected, bytes);
        }
        // Doubles of the same values, read as floats.
        let doubles: Vec<Matrix<f64>> = matrices
            .iter()
            .map(|m| Matrix {
                rows: m.rows,
                cols: m.cols,
                values: m.values.iter().map(|&v| f64::from(v)).collect(),
            })
            .collect();
        write(&format!("ark:{}", path("d.ark")), &doubles);
        let nan = matrices.iter().flat_map(|m| &m.values).any(|v| v.is_nan());
        prop_assert!(nan || contents("ark:d.ark", &features(directory.path())).unwrap() == archive);
    }

    #[test]
    fn integers(lists in prop::collection::vec(prop::collection::vec(any::<i32>(), 0..9), 1..6)) {
        let directory = tempfile::tempdir().unwrap();
        for mode in ["ark", "ark,t"] {
            write(&format!("{mode}:{}/i.ark", directory.path().display()), &lists);
            let found = contents("ark:i.ark", &labels(directory.path())).unwrap();
            for (list, (_, bytes)) in lists.iter().zip(&found) {
                let expected: Vec<u8> = list.iter().flat_map(|v| v.to_ne_bytes()).collect();
                prop_assert_eq!(&expected, bytes);
            }
        }
    }
}

#[test]
fn ranges_of_rows_and_columns() {
    let directory = tempfile::tempdir().unwrap();
    let values: Vec<f32> = (0..20).map(|i| i as f32).collect();
    write(
        &format!("ark:{}/a.ark", directory.path().display()),
        &[Matrix { rows: 5, cols: 4, values }],
    );
    let read = |range: &str| {
        fs::write(directory.path().join("r.scp"), format!("u a.ark:5{range}\n")).unwrap();
        let found = contents("scp:r.scp", &features(directory.path()))?;
        let floats = found[0].1.chunks_exact(4).map(|v| f32::from_ne_bytes(v.try_into().unwrap()));
        Ok::<Vec<f32>, seqfeed_core::Error>(floats.collect())
    };
    assert_eq!(read("[1:2]").unwrap(), [4., 5., 6., 7., 8., 9., 10., 11.]);
    assert_eq!(read("[4:6,1:2]").unwrap(), [17., 18.]);
    assert_eq!(read("[:,3:3]").unwrap(), [3., 7., 11., 15., 19.]);
    assert_eq!(read("[,0:0]").unwrap(), [0., 4., 8., 12., 16.]);
    for bad in ["[5:6]", "[0:8]", "[0:1,3:4]", "[2:1]", "[a]"] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn vectors_are_samples_or_one_sample() {
    let directory = tempfile::tempdir().unwrap();
    let vectors = [Vector(vec![1.0f32, 2.0, 3.0]), Vector(vec![4.0, 5.0, 6.0])];
    for mode in ["ark", "ark,t"] {
        write(&format!("{mode}:{}/v.ark", directory.path().display()), &vectors);
        let sampled = contents("ark:v.ark", &features(directory.path())).unwrap();
        let options = TableOptions {
            extent: Some(Extent::Sequence),
            element: Element::F64,
            ..features(directory.path())
        };
        let whole = contents("ark:v.ark", &options).unwrap();
        assert_eq!((sampled[1].1.len(), whole[1].1.len()), (12, 24));
        assert_eq!(whole[1].1[16..], 6.0f64.to_ne_bytes());
        // A range of elements.
        let offset = if mode == "ark" { 5 } else { 6 };
        fs::write(directory.path().join("v.scp"), format!("u v.ark:{offset}[1:2]\n")).unwrap();
        let part = contents("scp:v.scp", &options).unwrap();
        assert_eq!(part[0].1, [2.0f64, 3.0].map(f64::to_ne_bytes).concat());
        let part = contents("scp:v.scp", &features(directory.path())).unwrap();
        assert_eq!(part[0].1, [2.0f32, 3.0].map(f32::to_ne_bytes).concat());
    }
}
