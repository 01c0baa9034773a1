//! Script files: nothing panics, and what is read can be written and read again.
#![no_main]

use seqfeed_htk::script::{PathRule, Script, ScriptOptions, Style, write_entry};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let [setting, text @ ..] = bytes else { return };
    let style = if setting & 1 == 0 { Style::Htk } else { Style::Cntk };
    let path_rule = match setting >> 1 & 3 {
        0 => PathRule::beside(b"a/b"),
        1 => PathRule::under(b"p\\q"),
        _ => PathRule::AsWritten,
    };
    let as_written = path_rule == PathRule::AsWritten;
    let whole_files = setting & 16 != 0;
    let options =
        ScriptOptions { style, extended_names: setting & 8 == 0, whole_files, path_rule };
    let Ok(script) = Script::parse(text.to_vec(), &options) else { return };
    let mut written = Vec::new();
    let mut count = 0;
    for entry in script.iter() {
        assert!(entry.logical().starts_with(&entry.key()));
        assert!(!entry.physical().is_empty());
        let mut write = || {
            let (logical, physical) = (entry.logical(), entry.physical());
            write_entry(&logical, &physical, entry.segment(), style, &mut written)
        };
        count += usize::from(write().is_ok());
    }
    if as_written {
        let options = ScriptOptions { style, whole_files, ..ScriptOptions::default() };
        let again = Script::parse(written, &options).expect("what was written can be read");
        assert_eq!(again.len(), count);
    }
});
