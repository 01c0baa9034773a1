//! Any data comes back; any damage is an error or other data, never a panic.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use seqfeed_io::{Input, Opener, WxFilename};
use seqfeed_pdnn::pfile::{PFile, PFileLayout, PFileWriter};
use seqfeed_pdnn::pickle::{
    Array, Dtype, Number, PickledData, Protocol, Value, read_npy, write_npy, write_pickle,
};

use crate::pfiles::read;
use crate::pickles::from_bytes;

type Sentences = Vec<(Vec<f32>, Vec<i32>)>;

fn sentences() -> impl Strategy<Value = (PFileLayout, Sentences)> {
    (0usize..6, 0usize..4).prop_filter("columns", |(f, l)| f + l > 0).prop_flat_map(
        |(features, labels)| {
            let sentence = (1usize..20).prop_flat_map(move |frames| {
                let float = any::<u32>().prop_map(f32::from_bits);
                (vec(float, frames * features), vec(any::<i32>(), frames * labels))
            });
            (Just(PFileLayout { features, labels }), vec(sentence, 0..8))
        },
    )
}

fn pfile(layout: PFileLayout, sentences: &Sentences) -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.pfile");
    let mut writer =
        PFileWriter::create(&WxFilename::from(path.clone()), layout, &Opener::default()).unwrap();
    sentences
        .iter()
        .for_each(|(features, labels)| writer.write_sentence(features, labels).unwrap());
    writer.finish().unwrap();
    (directory, path)
}

fn number() -> impl Strategy<Value = Number> {
    use Number::{Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    prop::sample::select(vec![Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64])
}

fn array() -> impl Strategy<Value = Array> {
    let shape = vec(0usize..7, 0..4);
    (number(), any::<bool>(), any::<bool>(), shape).prop_flat_map(
        |(number, big_endian, fortran, shape)| {
            let bytes = shape.iter().product::<usize>() * number.size();
            let dtype = Dtype { number, big_endian: big_endian && number.size() > 1 };
            vec(any::<u8>(), bytes).prop_map(move |data| {
                Array::new(shape.clone(), dtype, fortran, data.as_slice().into()).unwrap()
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pfiles_come_back((layout, sentences) in sentences()) {
        let (_directory, path) = pfile(layout, &sentences);
        let all = read(&PFile::open(&path.display().to_string(), &Opener::default()).unwrap()).unwrap();
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let features: Vec<u32> = sentences.iter().flat_map(|(features, _)| bits(features)).collect();
        let labels: Vec<i32> = sentences.iter().flat_map(|(_, labels)| labels.clone()).collect();
        prop_assert_eq!(bits(&all.features), features);
        prop_assert_eq!(all.labels, labels);
        prop_assert_eq!(all.ends.len(), sentences.len());
    }

    #[test]
    fn damaged_pfiles_do_not_panic(
        (layout, sentences) in sentences(),
        damage in vec((0usize..700, any::<u8>()), 1..4),
        behind in vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (_directory, path) = pfile(layout, &sentences);
        let mut bytes = fs::read(&path).unwrap();
        damage.iter().for_each(|&(at, byte)| bytes[at] = byte);
        behind.iter().for_each(|(at, byte)| {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        });
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        fs::write(&path, bytes).unwrap();
        if let Ok(file) = PFile::open(&path.display().to_string(), &Opener::default()) {
            let _ = read(&file);
        }
    }

    #[test]
    fn arrays_come_back(features in array(), labels in array(), five in any::<bool>()) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.pickle");
        let protocol = if five { Protocol::Five } else { Protocol::Two };
        write_pickle(&WxFilename::from(path.clone()), &features, &labels, protocol, &Opener::default()).unwrap();
        let bytes = fs::read(&path).unwrap();
        let value = from_bytes(&bytes).unwrap();
        prop_assert_eq!(&value, &Value::Tuple([Value::Array(features.clone()), Value::Array(labels)].into()));
        let _ = PickledData::from_value(value);
        let mut npy = Vec::new();
        write_npy(&mut npy, &features).unwrap();
        prop_assert_eq!(read_npy(&mut Input::from_reader("npy", std::io::Cursor::new(npy))).unwrap(), features);
    }

    #[test]
    fn damaged_pickles_do_not_panic(
        features in array(),
        five in any::<bool>(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.pickle");
        let protocol = if five { Protocol::Five } else { Protocol::Two };
        write_pickle(&WxFilename::from(path.clone()), &features, &features, protocol, &Opener::default()).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        damage.iter().for_each(|(at, byte)| {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        });
        if let Ok(value) = from_bytes(&bytes) {
            let _ = PickledData::from_value(value);
        }
        let _ = read_npy(&mut Input::from_reader("npy", std::io::Cursor::new(bytes)));
    }
}
