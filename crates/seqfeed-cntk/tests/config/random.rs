//! Random configurations: what is written is read again, and nothing panics.

use std::collections::BTreeMap;

use proptest::prelude::*;
use seqfeed_cntk::config::{Config, ReaderConfig, Tree};

fn texts() -> impl Strategy<Value = String> {
    // What can be written between quotes: no quote, no ` #`, no `$`, no line break; and it must
    // not look like braces, nor be the word for a default.
    "[a-zA-Z0-9_./\\\\:;,=|+-][a-zA-Z0-9_./\\\\:;,=|+ (){}\\[\\]<>-]{0,12}[a-zA-Z0-9/]"
        .prop_filter("not the default", |text| text != "default")
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = texts().prop_map(Tree::Text);
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Tree::Array),
            sections(inner),
        ]
    })
}

fn sections(inner: impl Strategy<Value = Tree> + 'static) -> impl Strategy<Value = Tree> {
    // Names are the same in any case.
    prop::collection::btree_map("[-a-z_.:|+*][a-z0-9 _.:|+*-]{0,8}[a-z0-9]", inner, 0..6)
        .prop_map(|map: BTreeMap<String, Tree>| Tree::Section(map))
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(2_000)
    })]

    #[test]
    fn what_is_written_is_read(tree in sections(trees())) {
        let text = tree.to_string();
        let found = Config::parse("f", &text).and_then(|config| config.tree());
        prop_assert_eq!(found.map_err(|error| error.to_string()), Ok(tree), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[a-c=\\[\\]{}()\"$:;,*#\\n\\r \\t-]{0,60}") {
        read_everything(&text);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_everything(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_change_of_a_reader_is_read_or_refused(at in 0usize..400, byte in any::<char>()) {
        let mut text = String::from(
            "reader=[readerType=HTKMLFReader\n a=[scpFile=s;dim=3;contextWindow=1:2]\n\
             b=[mlfFileList=(a:b);labelDim=7] ] \n d=([type=CNTKTextFormatDeserializer;file=\"$x$\"\
             input={f={dim=3;format=dense}}]:[type=HTKFeatureDeserializer;input=[h=[dim=3\n\
             scpFile=z]]]) \n deserializers=$d$ \n x=y # z\n",
        );
        if at < text.len() {
            text.replace_range(at..=at, &byte.to_string());
        }
        read_everything(&text);
    }
}

/// Reads a text in all ways there are.
fn read_everything(text: &str) {
    let Ok(config) = Config::parse("f", text) else { return };
    let _ = config.tree();
    let _ = ReaderConfig::from_section(&config);
    for dotted in config.readers() {
        if let Ok(section) = config.section_at(&dotted) {
            let _ = ReaderConfig::from_section(&section);
        }
    }
}
