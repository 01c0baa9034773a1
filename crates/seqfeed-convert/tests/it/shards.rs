//! Shards of an earlier run.

use std::fs;

use seqfeed::Description;
use seqfeed::io::Opener;
use seqfeed_convert::{ConvertOptions, ConvertPlan, Target};

#[test]
fn a_record_that_was_changed_is_not_believed() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    fs::write(path("a.txt"), "a  [\n 1 2\n 3 4 ]\nb  [\n 5 6 ]\nc  [\n 7 8 ]\n").unwrap();
    let text = format!("features = 'ark:{}'", path("a.txt"));
    let corpus =
        Description::from_options(text.parse().unwrap()).unwrap().open(&Opener::default()).unwrap();
    let kept = || -> Vec<bool> {
        let mut options = ConvertOptions::new(Target::parse(&path("x.parquet")).unwrap());
        options.sharding.shards = 2;
        let plan = ConvertPlan::new(corpus.corpus(), options).unwrap();
        let report = plan.run(&|_samples| {}).unwrap();
        assert_eq!(plan.verify(&report).unwrap().shards, 2);
        report.shards.iter().map(|shard| shard.kept).collect()
    };
    assert_eq!(kept(), [false, false]);
    assert_eq!(kept(), [true, true]);
    let record = path("x.shards.json");
    let text = fs::read_to_string(&record).unwrap();
    for (from, to) in [("\"features\"", "\"fectures\""), ("\"samples\": 2", "\"samples\": 3")] {
        assert!(text.contains(from), "{text}");
        fs::write(&record, text.replacen(from, to, 1)).unwrap();
        assert_eq!(kept(), [false, true], "{from}");
    }
}
