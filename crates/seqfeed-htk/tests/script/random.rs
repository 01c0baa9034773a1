//! Random scripts: whatever is written is read, and nothing makes reading panic.

use proptest::prelude::*;
use seqfeed_htk::script::{PathRule, Script, ScriptOptions, Segment, Style, write_entry};

fn styles() -> impl Strategy<Value = Style> {
    prop_oneof![Just(Style::Htk), Just(Style::Cntk)]
}

fn segments() -> impl Strategy<Value = Option<Segment>> {
    let numbers = (0..5000_u32, prop::option::of(0..5000_u32));
    prop::option::of(numbers).prop_map(|segment| {
        let (first, len) = segment?;
        Segment::new(first, len.map(|len| first + len))
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        style in styles(),
        entries in prop::collection::vec(("[-a-c./ '\"=,\\[\\]]{0,12}", "[a-c./ '\"=\\\\]{1,12}", segments()), 0..20),
    ) {
        let mut text = Vec::new();
        let mut written = Vec::new();
        for (logical, physical, segment) in &entries {
            let logical = if logical.is_empty() { physical } else { logical };
            let before = text.len();
            let (logical, physical) = (logical.as_bytes(), physical.as_bytes());
            match write_entry(logical, physical, *segment, style, &mut text) {
                Ok(()) => written.push((logical, physical, *segment)),
                Err(error) => {
                    prop_assert!(error.is_usage());
                    prop_assert_eq!(text.len(), before);
                }
            }
        }
        let options = ScriptOptions { style, ..ScriptOptions::default() };
        let script = Script::parse(text, &options).unwrap();
        prop_assert_eq!(script.len(), written.len());
        for (line, (entry, (logical, physical, segment))) in script.iter().zip(written).enumerate() {
            prop_assert_eq!(&*entry.logical(), logical);
            prop_assert_eq!(&*entry.physical(), physical);
            prop_assert_eq!(entry.segment(), segment);
            prop_assert_eq!(entry.line(), line as u64 + 1);
        }
    }

    #[test]
    fn simple_entries_can_be_written(
        logical in "[a-z0-9][a-z0-9._/+-]{0,12}",
        physical in "[a-z0-9/][a-z0-9._/+-]{0,12}",
        segment in segments().prop_filter("frames", |s| s.is_some_and(|s| s.len() > Some(0))),
        style in styles(),
    ) {
        let mut text = Vec::new();
        write_entry(logical.as_bytes(), physical.as_bytes(), segment, style, &mut text).unwrap();
        prop_assert!(text.ends_with(b"]\n"));
    }

    #[test]
    fn nothing_makes_reading_panic(
        text in prop::collection::vec(prop_oneof![
            4 => prop::sample::select(b"a.=[],01-\"' \n\r".to_vec()), 1 => any::<u8>(),
        ], 0..80),
        style in styles(),
        extended_names in any::<bool>(),
        path_rule in prop_oneof![
            Just(PathRule::AsWritten), Just(PathRule::beside(b"x/y")), Just(PathRule::under(b"p")),
        ],
    ) {
        let lines = text.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        let options = ScriptOptions { style, extended_names, whole_files: false, path_rule };
        match Script::parse(text, &options) {
            Ok(script) => for entry in script.iter() {
                prop_assert!(!entry.physical().is_empty() && entry.line() <= lines);
                prop_assert!(entry.logical().starts_with(&entry.key()));
            },
            Err(error) => prop_assert!(error.place().position.is_some(), "{}", error),
        }
    }
}
