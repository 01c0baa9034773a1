//! A format that is registered from outside: the one of the example.

#[path = "../../examples/own_format.rs"]
#[allow(dead_code, reason = "its `main` is not called here")]
mod example;

use std::sync::Arc;

use seqfeed::io::Opener;
use seqfeed::{Corpus, Description, Source, register};
use seqfeed_convert::{Check, CheckOptions, ConvertOptions, ConvertPlan, Target, fingerprint};

#[test]
fn it_is_fed_converted_and_checked() {
    register(&example::Toy).unwrap();
    assert!(register(&example::Toy).unwrap_err().message().contains("already"));
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    std::fs::write(path("ali.ark"), "utt1 3 1 4 \nutt2 1 5 \n").unwrap();
    let opener = Opener::default();
    let text = format!("labels = 'ark:{}'", path("ali.ark"));
    let tables = Description::from_options(text.parse().unwrap()).unwrap().open(&opener).unwrap();

    let convert = |corpus: &Arc<Corpus>, name: &str, shards: usize| {
        let mut options = ConvertOptions::new(Target::parse(&path(name)).unwrap());
        options.sharding.shards = shards;
        let plan = ConvertPlan::new(corpus, options).unwrap();
        assert!(plan.losses().is_empty(), "{:?}", plan.losses());
        let report = plan.run(&|_samples| {}).unwrap();
        assert_eq!(plan.verify(&report).unwrap().shards, shards);
        report.fingerprint.streams[0].clone()
    };
    let written = convert(tables.corpus(), "ali.toy", 1);
    assert_eq!(std::fs::read_to_string(path("ali.toy")).unwrap(), "utt1 3 1 4\nutt2 1 5\n");
    convert(tables.corpus(), "parts.toy", 2);

    // By its name alone, as a stream, and back into a format that comes with the library.
    let alone = Description::of_name(&path("ali.toy")).unwrap().description;
    let stream = format!("[streams.labels]\nsource = '{}'\nkind = 'label'", path("ali.toy"));
    for description in [alone, Description::from_options(stream.parse().unwrap()).unwrap()] {
        let check = Check::of(&description, &CheckOptions::default(), |_| {}, |_| {}).unwrap();
        assert!(check.findings().is_empty(), "{:?}", check.findings());
        let opened = description.open(&opener).unwrap();
        assert_eq!(fingerprint(opened.corpus().as_ref()).unwrap().streams[0], written);
        assert_eq!(convert(opened.corpus(), "back.ali", 1), written);
        let fed = opened.one_sweep(0, 0, 1, None).feed(None).unwrap();
        let samples: usize = fed.map(|minibatch| minibatch.unwrap().samples()).sum();
        assert_eq!(samples as u64, opened.corpus().index().total_samples());
    }
}
