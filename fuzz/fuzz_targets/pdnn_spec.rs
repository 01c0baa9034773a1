//! Data specifications: any text is read or refused with a place; what is read is read again alike.
#![no_main]

use seqfeed::data_spec::{DataFormat, DataSpec, options_start};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let start = options_start(text);
    let _ = DataSpec::parse_options(text, start);
    let spec = match DataSpec::parse(text) {
        Ok(spec) => spec,
        Err(error) => {
            assert!(error.is_usage() && error.quote().is_some());
            return;
        }
    };
    let mut again = spec.names.join("|");
    for name in &spec.names {
        let _ = DataFormat::of(name);
    }
    let options = &spec.options;
    if let Some((left, right)) = options.context {
        again += &format!(",context={left}:{right}");
    }
    if let Some(ranges) = &options.ignore {
        let ranges: Vec<String> =
            ranges.iter().map(|(low, high)| format!("{low}-{high}")).collect();
        again += &format!(",ignore-label={}", ranges.join(":"));
    }
    if let Some(rules) = &options.map {
        let rules: Vec<String> =
            rules.iter().map(|(low, high, new)| format!("{low}-{high}:{new}")).collect();
        again += &format!(",map-label={}", rules.join("/"));
    }
    if let Some(bytes) = options.partition {
        again += &format!(",partition={}m", bytes >> 20);
    }
    for (key, flag) in
        [("stream", options.stream), ("random", options.random), ("reshuffle", options.reshuffle)]
    {
        if let Some(flag) = flag {
            again += &format!(",{key}={}", if flag { "True" } else { "False" });
        }
    }
    for (key, number) in [("seed", options.seed), ("batch", options.batch)] {
        if let Some(number) = number {
            again += &format!(",{key}={number}");
        }
    }
    if let Some(label) = &options.label {
        again += &format!(",label={label}");
    }
    let read = DataSpec::parse(&again).expect("what was written is read");
    assert_eq!((read.names, read.options), (spec.names, spec.options));
});
