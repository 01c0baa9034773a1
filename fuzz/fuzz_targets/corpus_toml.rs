//! `corpus.toml`: what is read is written and read again to the same, and means the same.
#![no_main]

use seqfeed::Description;

/// The settings, or what is wrong with them, the transforms and the streams.
fn meaning(description: &Description) -> String {
    let settings = description.settings().map_err(|error| error.to_string());
    let streams = description.streams().into_iter().map(|(name, stream)| {
        let source = stream.source.map(|names| names.to_vec());
        let (kind, dtype, extent) = (stream.kind, stream.dtype, stream.extent);
        (name, source, stream.states, kind, stream.dim, dtype, extent, stream.transforms)
    });
    let transforms = &description.corpus.transforms;
    format!("{settings:?} {transforms:?} {:?}", streams.collect::<Vec<_>>())
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let description = match Description::from_toml(text) {
        Ok(description) => description,
        Err(error) => {
            assert!(!error.message().is_empty());
            return;
        }
    };
    let written = description.to_toml();
    let again = Description::from_toml(&written).expect("what was written can be read");
    assert_eq!(again.to_toml(), written);
    assert_eq!(meaning(&again), meaning(&description));
});
