//! Data specifications: recorded ones, wrong ones, random ones.

use proptest::prelude::*;
use seqfeed::data_spec::{DataOptions, DataSpec, options_start};

use crate::job::shared;

#[test]
fn options_are_read_as_pdnn_reads_them() {
    let Some(golden) = shared("golden/pdnn") else { return };
    let manifest = std::fs::read(golden.join("manifest_pdnn_feed.json")).unwrap();
    let manifest: Vec<serde_json::Value> = serde_json::from_slice(&manifest).unwrap();
    let mut compared = 0;
    for case in manifest {
        let Some(options) = case.get("opts").filter(|_| case.get("error").is_none()) else {
            continue;
        };
        let text = case["spec"].as_str().unwrap();
        let spec = DataSpec::parse(text).unwrap();
        let (left, right) = spec.options.context.unwrap_or_default();
        let found = [
            left as u64,
            right as u64,
            spec.options.partition.unwrap_or(DataOptions::PARTITION),
            spec.options.random.unwrap_or(false).into(),
            spec.options.stream.unwrap_or(false).into(),
        ];
        let number = |key: &str| match &options[key] {
            serde_json::Value::Bool(flag) => u64::from(*flag),
            value => value.as_u64().unwrap_or(u64::MAX),
        };
        let expected = ["lcxt", "rcxt", "partition", "random", "stream"].map(number);
        assert_eq!(found, expected, "{text}");
        compared += 1;
    }
    assert_eq!(compared, 88);
}

#[test]
fn every_option() {
    let spec = DataSpec::parse(
        "a/*.pfile.gz,lcxt=3,rcxt=1,ignore-label=-1:7-9,map-label=1:0/4-6:-2,partition=m1000,\
         stream=yes,random=1,label=x.ali,seed=7,reshuffle=True,batch=100",
    )
    .unwrap();
    let expected = DataOptions {
        context: Some((3, 1)),
        ignore: Some(vec![(-1, -1), (7, 9)]),
        map: Some(vec![(1, 1, 0), (4, 6, -2)]),
        partition: Some(1000 << 20),
        stream: Some(true),
        random: Some(true),
        label: Some("x.ali".into()),
        seed: Some(7),
        reshuffle: Some(true),
        batch: Some(100),
    };
    assert_eq!((spec.options, spec.warnings), (expected, Vec::new()));
}

#[test]
fn later_options_count() {
    let context = |text: &str| DataSpec::parse(text).unwrap().options.context;
    assert_eq!(context("x.pfile,context=2,lcxt=0"), Some((0, 2)));
    assert_eq!(context("x.pfile,lcxt=0,context=2"), Some((2, 2)));
    let spec = DataSpec::parse("x.pfile,ignore-label=1,ignore-label=2").unwrap();
    assert_eq!(spec.options.ignore, Some(vec![(2, 2)]));
}

#[test]
fn tasks_have_names_of_their_own() {
    let spec = DataSpec::parse("a.pfile|b.pfile,context=1").unwrap();
    let tasks: Vec<DataSpec> = spec.tasks().collect();
    assert_eq!(tasks.len(), 2);
    assert_eq!(
        (&tasks[1].names[..], tasks[1].options.context),
        (&["b.pfile".into()][..], Some((1, 1)))
    );
}

#[test]
fn errors_point_at_the_part_that_is_wrong() {
    let cases = [
        ("x.pfile,", 9, "an option is missing"),
        ("x.pfile,random", 9, "has no value"),
        ("", 1, "no name"),
        ("a.pfile||b.pfile", 9, "no name"),
        ("x.pfile,context=a", 17, "frames of context"),
        ("x.pfile,context=1:b", 19, "a number of frames"),
        ("x.pfile,context=1:2:3", 17, "frames of context"),
        ("x.pfile,context=10001", 17, "frames of context"),
        ("x.pfile,lcxt=-1", 14, "a number of frames"),
        ("x.pfile,ignore-label=0::2", 24, "found nothing"),
        ("x.pfile,ignore-label=0:3-x", 26, "a label"),
        ("x.pfile,ignore-label=9999999999", 22, "labels"),
        ("x.pfile,map-label=1", 19, "old and new label"),
        ("x.pfile,map-label=1:2:3", 19, "old and new label"),
        ("x.pfile,map-label=1:0/", 23, "old and new label"),
        ("x.pfile,map-label=1:2-3", 21, "a label"),
        ("x.pfile,partition=1M", 19, "megabytes"),
        ("x.pfile,partition=1.5m", 19, "megabytes"),
        ("x.pfile,partition=0", 19, "megabytes"),
        ("x.pfile,seed=4294967296", 14, "below 2^32"),
        ("x.pfile,batch=0", 15, "a number of frames"),
        ("x.scp,label=", 13, "a file of alignments"),
    ];
    for (text, column, expected) in cases {
        let error = DataSpec::parse(text).unwrap_err();
        let place = error.place().to_string();
        assert!(error.is_usage() && error.message().contains(expected), "{text}: {error}");
        assert_eq!(place, format!("data specification:1:{column}"), "{text}");
        assert_eq!(error.quote().unwrap().caret, column - 1, "{text}");
    }
}

#[test]
fn what_pdnn_passes_over_is_a_warning() {
    let cases = [
        ("x.pfile, random=True", "unknown option ` random` has no effect; is `random` meant?"),
        ("x.pfile,Random=True", "is `random` meant?"),
        ("x.pfile,contxt=5", "is `context` meant?"),
        ("x.pfile,ignore_labels=5", "is `ignore-label` meant?"),
        (
            "x.pfile,colour=5",
            "unknown option `colour` has no effect (column 9 of x.pfile,colour=5)",
        ),
        ("x.pfile,context=1=2", "`=2` has no effect"),
        ("x.pfile,random=on", "`on` is taken as False"),
    ];
    for (text, expected) in cases {
        let warnings = DataSpec::parse(text).unwrap().warnings;
        assert!(warnings.len() == 1 && warnings[0].contains(expected), "{warnings:?}");
    }
}

#[test]
fn options_stand_behind_any_name() {
    let cases = [
        ("train.ctf,context=5", 9),
        ("scp,p:feats.scp,context=5,random=1", 15),
        ("ark,s,cs:feats.ark", 18),
        ("a,b.toml", 8),
        ("x.ctf,inputs/a=b,seed=3", 16),
    ];
    for (text, start) in cases {
        assert_eq!(options_start(text), start, "{text}");
    }
    let spec = DataSpec::parse_options("a,b.ctf,seed=3", 7).unwrap();
    assert_eq!((&spec.names[0][..], spec.options.seed), ("a,b.ctf", Some(3)));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z.,=:/|0-9 -]{0,40}|\\PC{0,20}") {
        let start = options_start(&text);
        prop_assert!(text.is_char_boundary(start));
        let _ = DataSpec::parse_options(&text, start);
        if let Err(error) = DataSpec::parse(&text) {
            prop_assert!(error.is_usage() && error.quote().is_some());
        }
    }

    #[test]
    fn label_lists_are_read_back(ranges in prop::collection::vec((any::<i32>(), any::<i32>()), 1..6)) {
        let text: Vec<String> = ranges.iter().map(|(low, high)| format!("{low}-{high}")).collect();
        prop_assert_eq!(DataOptions::parse_ignore(&text.join(":")).unwrap(), ranges);
    }
}
