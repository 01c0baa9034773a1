//! Labels from text: transcripts, speakers, and their symbols.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::{Description, Error, Minibatch, Opened, Source};

/// Three utterances of 3, 2 and 4 frames, their words, speakers and genders.
fn write(directory: &Path) {
    let feats = "u1  [\n 1\n 2\n 3 ]\nu2  [\n 4\n 5 ]\nu3  [\n 6\n 7\n 8\n 9 ]\n";
    let files = [
        ("feats.ark", feats),
        ("text", "u1 six one\nu2 two\nu3 one six one two\n"),
        ("utt2spk", "u1 b\nu2 a\nu3 b\n"),
        ("spk2gender", "a f\nb m\n"),
        ("words.txt", "<eps> 0\none 4\nsix 2\n<unk> 9\n"),
        (
            "data.list",
            "{\"key\": \"u1\", \"txt\": \"six one\", \"id\": [7, 8]}\n\
             {\"key\": \"u2\", \"txt\": \"two\", \"id\": [9]}\n\
             {\"key\": \"u3\", \"txt\": \"one six one two\", \"id\": []}\n",
        ),
    ];
    for (name, text) in files {
        fs::write(directory.join(name), text).unwrap();
    }
}

const FEED: &str = "[feed]\nunit = 'sequence'\nlayout = 'padded'\norder = 'sequential'\n\
                    label-padding = -1\nbatch-size = 100\n\
                    [streams.features]\nsource = 'ark:feats.ark'\n";

fn described(directory: &Path, text: &str) -> Result<Description, Error> {
    fs::write(directory.join("corpus.toml"), format!("{FEED}{text}")).unwrap();
    Description::from_file(&directory.join("corpus.toml"))
}

fn open(directory: &Path, text: &str) -> Result<Opened, Error> {
    described(directory, text)?.open(&Opener::default())
}

/// The labels of each stream by keys, as a feed gives them.
fn fed(opened: &Opened) -> BTreeMap<(String, String), Vec<i32>> {
    let mut all = BTreeMap::new();
    for minibatch in opened.one_sweep(0, 0, 1, None).feed(None).unwrap() {
        let minibatch: Minibatch = minibatch.unwrap();
        for stream in opened.corpus().streams() {
            let batch = minibatch.stream(&stream.name).unwrap();
            let Some(labels) = batch.as_i32() else { continue };
            for (segment, key) in minibatch.keys().enumerate() {
                let (first, rows) = batch.rows_of(segment);
                let labels = labels[first..first + rows].to_vec();
                all.insert((stream.name.clone(), key.to_string()), labels);
            }
        }
    }
    all
}

fn of(all: &BTreeMap<(String, String), Vec<i32>>, stream: &str) -> Vec<Vec<i32>> {
    let of =
        |(key, labels): (&(String, String), &Vec<i32>)| (key.0 == stream).then(|| labels.clone());
    all.iter().filter_map(of).collect()
}

#[test]
fn words_and_speakers_come_beside_features() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let opened = open(
        directory.path(),
        "[streams.words]\nsource = 'text:text'\nkind = 'label'\nend = '</s>'\n\
         [streams.characters]\nsource = 'text:text'\nkind = 'label'\nunits = 'characters'\n\
         [streams.speaker]\nsource = 'text:utt2spk'\nkind = 'label'\nextent = 'sequence'\n\
         [streams.gender]\nsource = 'text:spk2gender'\nthrough = 'utt2spk'\nkind = 'label'\n\
         extent = 'sequence'\n\
         [streams.known]\nsource = 'text:text'\nkind = 'label'\nsymbols = 'words.txt'\n\
         unknown = '<unk>'\n",
    )
    .unwrap();
    let labels = fed(&opened);
    // </s>, one, six, two
    assert_eq!(of(&labels, "words"), [vec![2, 1, 0], vec![3, 0], vec![1, 2, 1, 3, 0]]);
    assert_eq!(of(&labels, "speaker"), [[1], [0], [1]]);
    assert_eq!(of(&labels, "gender"), [[1], [0], [1]]);
    assert_eq!(of(&labels, "known"), [vec![2, 4], vec![9], vec![4, 2, 4, 9]]);
    let symbols = opened.corpus().about().symbols;
    let spelled: Vec<u8> = of(&labels, "characters")[0]
        .iter()
        .flat_map(|&label| symbols["characters"].name(label).unwrap().to_vec())
        .collect();
    assert_eq!(spelled, b"six<space>one");
    assert_eq!(symbols["speaker"].name(1), Some(&b"b"[..]));
}

#[test]
fn a_description_keeps_the_symbols_that_were_found() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let description = described(
        directory.path(),
        "[streams.words]\nsource = 'text:text'\nkind = 'label'\n\
         [streams.gender]\nsource = 'text:spk2gender'\nthrough = 'utt2spk'\nkind = 'label'\n\
         extent = 'sequence'\n",
    )
    .unwrap();
    let opener = Opener::default();
    let opened = description.open(&opener).unwrap();
    let explicit = description.explicit(&opened, &opener).unwrap().to_toml();
    assert!(explicit.contains("symbols = [\"one\", \"six\", \"two\"]"), "{explicit}");
    // Other data get the same numbers, and names are relative to the working directory.
    let again = Description::from_toml(&explicit).unwrap().open(&opener).unwrap();
    assert_eq!(fed(&again), fed(&opened));
    fs::write(directory.path().join("text"), "u1 two\nu2 two\nu3 two\n").unwrap();
    let other = Description::from_toml(&explicit).unwrap().open(&opener).unwrap();
    assert_eq!(of(&fed(&other), "words"), [[2], [2], [2]]);
}

#[test]
fn a_field_of_json_lines_is_a_text() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let opened = open(
        directory.path(),
        "[streams.words]\nsource = 'jsonl:data.list#txt'\nkind = 'label'\n\
         [streams.ids]\nsource = 'jsonl:data.list#id'\nkind = 'label'\n",
    )
    .unwrap();
    let labels = fed(&opened);
    assert_eq!(of(&labels, "words"), [vec![1, 0], vec![2], vec![0, 1, 0, 2]]);
    assert_eq!(of(&labels, "ids"), [vec![0, 1], vec![2], vec![]]);
}

#[test]
fn settings_without_meaning_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let cases = [
        ("source = 'text:text'", "not of labels", "kind = \"label\""),
        ("source = 'ark:feats.ark'\nunits = 'words'", "`units` is for text", "text:FILE"),
        ("source = 'text:text'\nkind = 'label'\nspace = '_'", "space has no effect", "characters"),
        ("source = 'text:text'\nkind = 'label'\nunknown = 'x'", "unknown has no effect", "symbols"),
        (
            "source = 'text:text'\nkind = 'label'\nsymbols = 'words.txt'",
            "no symbol `two`",
            "unknown",
        ),
        (
            "source = 'text:text'\nkind = 'label'\nsymbols = 'words.txt'\nend = '</s>'",
            "has no such symbol",
            "add </s>",
        ),
        ("source = 'text:text'\nkind = 'label'\nsymbols = ['a', 'a']", "stands twice", ""),
        ("source = 'text:text'\nkind = 'label'\nextent = 'sequence'", "2 stand here", "own"),
        ("source = 'jsonl:data.list'\nkind = 'label'", "which field", "jsonl:data.list#text"),
        ("source = 'jsonl:data.list#x'\nkind = 'label'", "no field `x`", "id, key, txt"),
    ];
    for (text, message, help) in cases {
        let error = open(directory.path(), &format!("[streams.text]\n{text}\n")).unwrap_err();
        let found = (error.message(), error.help().unwrap_or_default().to_owned());
        assert!(found.0.contains(message) && found.1.contains(help), "{text}: {error}");
    }
}

#[test]
fn each_stream_has_its_padding() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let text = |padding: &str| {
        format!(
            "padding = 0.5\n[streams.words]\nsource = 'text:text'\nkind = 'label'\n{padding}\n\
             [streams.other]\nsource = 'text:text'\nkind = 'label'\n"
        )
    };
    let opened = open(directory.path(), &text("padding = 99")).unwrap();
    let mut feed = opened.one_sweep(0, 0, 1, None).feed(None).unwrap();
    let minibatch: Minibatch = feed.next().unwrap().unwrap();
    let features = minibatch.stream("features").unwrap();
    assert_eq!(features.as_f32().unwrap()[6..8], [0.5, 0.5]);
    let labels = |name| minibatch.stream(name).unwrap().as_i32().unwrap().to_vec();
    assert_eq!(labels("words"), [1, 0, 99, 99, 2, 99, 99, 99, 0, 1, 0, 2]);
    assert_eq!(labels("other"), [1, 0, -1, -1, 2, -1, -1, -1, 0, 1, 0, 2]);
    let error = open(directory.path(), &text("padding = 0.5")).unwrap_err();
    assert!(error.message().contains("whole numbers"), "{error}");
    let frames =
        "[feed]\nunit = 'frame'\n[streams.features]\nsource = 'ark:feats.ark'\npadding = 1\n";
    fs::write(directory.path().join("corpus.toml"), frames).unwrap();
    let description = Description::from_file(&directory.path().join("corpus.toml")).unwrap();
    let error = description.open(&Opener::default()).unwrap_err();
    assert!(error.message().contains("not padded"), "{error}");
}

#[cfg(feature = "tokenizers")]
#[test]
fn a_tokenizer_gives_labels() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let tokenizer = r#"{"version": "1.0", "added_tokens": [], "truncation": null, "padding": null,
        "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": null,
        "post_processor": {"type": "BertProcessing", "sep": ["</s>", 9], "cls": ["<s>", 8]},
        "model": {"type": "WordLevel", "unk_token": "<unk>",
            "vocab": {"<unk>": 0, "one": 4, "six": 2, "<s>": 8, "</s>": 9}}}"#;
    fs::write(directory.path().join("tokenizer.json"), tokenizer).unwrap();
    let streams = "[streams.tokens]\nsource = 'text:text'\nkind = 'label'\n\
                   tokenizer = 'tokenizer.json'\n";
    let parts = "[streams.bare]\nsource = 'jsonl:data.list#txt'\nkind = 'label'\n\
                 tokenizer = 'tokenizer.json'\nadd-special-tokens = false\n";
    let description = described(directory.path(), &format!("{streams}{parts}")).unwrap();
    let opener = Opener::default();
    let opened = description.open(&opener).unwrap();
    let labels = fed(&opened);
    assert_eq!(of(&labels, "tokens"), [vec![8, 2, 4, 9], vec![8, 0, 9], vec![8, 4, 2, 4, 0, 9]]);
    assert_eq!(of(&labels, "bare"), [vec![2, 4], vec![0], vec![4, 2, 4, 0]]);
    assert_eq!(opened.corpus().about().symbols["tokens"].name(2), Some(&b"six"[..]));
    let explicit = description.explicit(&opened, &opener).unwrap().to_toml();
    assert!(!explicit.contains("symbols"), "{explicit}");
    let again = Description::from_toml(&explicit).unwrap().open(&opener).unwrap();
    assert_eq!(fed(&again), labels);
    for (more, said) in [
        ("units = 'words'", "units has no effect"),
        ("begin = '<s>'", "begin has no effect"),
        ("extent = 'sequence'", "one label is expected"),
    ] {
        let error = open(directory.path(), &format!("{streams}{more}\n")).err().unwrap();
        assert!(error.message().contains(said), "{error}");
    }
    fs::write(directory.path().join("tokenizer.json"), "{\n\"model\": 1}").unwrap();
    let error = open(directory.path(), streams).err().unwrap().to_string();
    assert!(
        error.contains("tokenizer.json:2") || error.contains("tokenizer.json: line 2"),
        "{error}"
    );
}

#[test]
fn special_tokens_are_those_of_a_tokenizer() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let streams = "[streams.tokens]\nsource = 'text:text'\nkind = 'label'\n\
                   add-special-tokens = false\n";
    let error = open(directory.path(), streams).err().unwrap();
    assert!(error.message().contains("there is no tokenizer"), "{error}");
}
