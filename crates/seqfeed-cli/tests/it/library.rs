//! What a program of Rust gets from a description is what the command line gets.

use serde_json::Value;

use crate::program::{dump, examples};

fn numbers(values: &Value) -> Vec<f64> {
    match values {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

#[test]
fn the_library_gives_the_minibatches_of_the_program() {
    let description = examples().join("digits/train.toml");
    let lines = dump(&examples(), &["digits/train.toml", "--sweeps", "1"]);
    let mut description = seqfeed::Description::from_file(&description).unwrap();
    description.feed.sweeps = Some(1);
    let opened = description.open(&seqfeed::io::Opener::default()).unwrap();
    let mut count = 0;
    for (minibatch, line) in opened.feed(None).unwrap().zip(&lines) {
        let minibatch = minibatch.unwrap();
        let keys: Vec<String> = minibatch.keys().map(|key| key.to_string()).collect();
        assert_eq!(Value::from(keys), line["keys"]);
        let starts: Vec<u64> =
            minibatch.segments().iter().map(|segment| segment.first.into()).collect();
        assert_eq!(Value::from(starts), line["starts"]);
        let features = minibatch.dense("features").unwrap();
        let dumped = numbers(&line["streams"]["features"]["data"]);
        assert!(features.iter().copied().eq(dumped.into_iter().map(|value| value as f32)));
        let labels = minibatch.labels("labels").unwrap();
        let dumped = numbers(&line["streams"]["labels"]["data"]);
        assert!(labels.iter().map(|&label| f64::from(label)).eq(dumped));
        count += 1;
    }
    assert!(count > 3);
    assert_eq!(count, lines.len());
}
