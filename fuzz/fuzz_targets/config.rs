//! CNTK's configurations, and the reader sections in them.
#![no_main]

use seqfeed_cntk::config::{Config, ReaderConfig};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(json) = serde_json::from_str(&text) {
        let _ = ReaderConfig::from_json(&json, None);
    }
    // A line behind `!!` is an override, and an included file is the text once more.
    let (text, line) = text.split_once("!!").unwrap_or((&text, ""));
    let mut texts = |_: &str| Ok(text.to_owned());
    let Ok(config) = Config::assemble(&["fuzz"], &[line], &mut texts) else { return };
    let _ = ReaderConfig::from_section(&config);
    for dotted in config.readers() {
        if let Ok(section) = config.section_at(&dotted) {
            let _ = ReaderConfig::from_section(&section);
        }
    }
    let Ok(tree) = config.tree() else { return };
    // Not every text can be written so that it is read again, but what was read after that
    // can.
    let Ok(Ok(again)) = Config::parse("again", &tree.to_string()).map(|config| config.tree())
    else {
        return;
    };
    let _ = Config::parse("twice", &again.to_string());
});
