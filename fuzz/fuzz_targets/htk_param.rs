//! HTK's parameter files: what is read lies inside of the file, and comes back when it is written.
#![no_main]

use seqfeed_htk::param::{
    Base, ByteOrder, DamagedIrefc, Encoding, ReadOptions, Storage, Values, decode,
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let [setting, file @ ..] = bytes else { return };
    let options = ReadOptions {
        order: match setting & 3 {
            0 => Some(ByteOrder::Big),
            1 => Some(ByteOrder::Little),
            _ => None,
        },
        allow_truncated: setting & 4 != 0,
        verify: setting & 8 != 0,
        damaged_irefc: match setting >> 4 & 3 {
            0 => DamagedIrefc::Repair,
            1 => DamagedIrefc::Refuse,
            _ => DamagedIrefc::Literal,
        },
    };
    let Ok((layout, values)) = decode(file, &options) else { return };
    assert!(layout.data_end() <= file.len() as u64);
    assert_eq!(values.len() as u64, layout.frames() * layout.columns() as u64);
    let header = *layout.header();
    let encoding = Encoding { kind: header.kind, period: header.period, order: header.order };
    let mut written = Vec::new();
    let data = &file[12..layout.data_end() as usize];
    let encoded = match (layout.storage(), header.kind.base()) {
        (Storage::Floats, _) => {
            encoding.encode(Values::Floats(&values), layout.columns(), &mut written)
        }
        (Storage::Shorts, Base::Waveform | Base::Discrete) => {
            let shorts: Vec<i16> = values.iter().map(|&value| value as i16).collect();
            encoding.encode(Values::Shorts(&shorts), layout.columns(), &mut written)
        }
        _ => return,
    };
    if encoded.is_ok() {
        assert_eq!(&written[4..12], &file[4..12]);
        assert_eq!(&written[12..12 + data.len()], data);
        // Without frames, both byte orders may fit.
        let options = ReadOptions { order: Some(header.order), ..options };
        let (again, found) = decode(&written, &options).expect("what was written can be read");
        assert_eq!(again.frames(), layout.frames());
        assert!(found.iter().zip(&values).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
});
