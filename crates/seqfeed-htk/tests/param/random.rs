//! Random files: whatever is written is read, and no damage makes reading panic.

use proptest::prelude::*;
use seqfeed_htk::param::{
    Base, ByteOrder, DamagedIrefc, Encoding, ParamKind, ReadOptions, Storage, Values, decode,
};

use crate::shared::bits;

fn orders() -> impl Strategy<Value = ByteOrder> {
    prop_oneof![Just(ByteOrder::Big), Just(ByteOrder::Little)]
}

fn encodings() -> impl Strategy<Value = Encoding> {
    (any::<u16>(), 1..1_000_000, orders()).prop_map(|(kind, period, order)| {
        let kind = ParamKind(kind).without(ParamKind::INDEXED);
        Encoding { kind, period, order }
    })
}

fn encode(encoding: &Encoding, floats: &[f32], columns: usize) -> Option<Vec<u8>> {
    let shorts: Vec<i16> = floats.iter().map(|&value| value as i16).collect();
    let values = match encoding.kind.base() {
        Base::Waveform | Base::Discrete => Values::Shorts(&shorts),
        _ => Values::Floats(floats),
    };
    let mut file = Vec::new();
    encoding.encode(values, columns, &mut file).ok().map(|()| file)
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        encoding in encodings(),
        columns in 1_usize..20,
        values in prop::collection::vec(-1.0_f32..1.0, 20..400),
    ) {
        let columns = if encoding.kind.base() == Base::Waveform { 1 } else { columns };
        let values = &values[..values.len() / columns * columns];
        let Some(file) = encode(&encoding, values, columns) else {
            // Values that differ little from each other, but much from zero: HTK gives up too.
            prop_assert!(encoding.kind.has(ParamKind::COMPRESSED));
            return Ok(());
        };
        let options = ReadOptions { damaged_irefc: DamagedIrefc::Literal, ..ReadOptions::default() };
        let (layout, found) = decode(&file, &options).unwrap();
        prop_assert_eq!(layout.header().kind, encoding.kind);
        prop_assert_eq!(layout.header().order, encoding.order);
        prop_assert_eq!(layout.header().period, encoding.period);
        prop_assert_eq!((layout.columns(), found.len()), (columns, values.len()));
        match layout.storage() {
            Storage::Floats => prop_assert_eq!(bits(&found), bits(values)),
            Storage::Shorts => {
                for (found, value) in found.iter().zip(values) {
                    prop_assert_eq!(*found, f32::from(*value as i16));
                }
            }
            Storage::Scaled | Storage::Compressed => {
                for (found, value) in found.iter().zip(values) {
                    prop_assert!((found - value).abs() < 1e-4, "{} {}", found, value);
                }
            }
        }
    }

    #[test]
    fn floats_come_back_by_their_bits(
        order in orders(),
        values in prop::collection::vec(any::<u32>().prop_map(f32::from_bits), 1..100),
    ) {
        let file = encode(&Encoding { order, ..Encoding::default() }, &values, 1).unwrap();
        let (_, found) = decode(&file, &ReadOptions::default()).unwrap();
        prop_assert_eq!(bits(&found), bits(&values));
    }

    #[test]
    fn no_damage_makes_reading_panic(
        encoding in encodings(),
        values in prop::collection::vec(-1.0_f32..1.0, 24),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        extra in 0_usize..40,
    ) {
        let columns = if encoding.kind.base() == Base::Waveform { 1 } else { 3 };
        let Some(mut file) = encode(&encoding, &values, columns) else { return Ok(()) };
        for (at, byte) in changes {
            let at = at.index(file.len() * 2) % file.len();
            file[at] = byte;
        }
        if extra < 20 {
            file.extend(std::iter::repeat_n(7, extra));
        } else {
            file.truncate(cut.index(file.len()));
        }
        for allow_truncated in [false, true] {
            let damaged_irefc = DamagedIrefc::Repair;
            let options =
                ReadOptions { allow_truncated, damaged_irefc, ..ReadOptions::default() };
            if let Ok((layout, values)) = decode(&file, &options) {
                prop_assert_eq!(values.len() as u64, layout.frames() * layout.columns() as u64);
            }
        }
    }
}
