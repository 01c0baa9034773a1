//! Names of Arrow and Parquet files, in a library without the feature `arrow`.

use seqfeed::io::Opener;
use seqfeed::{Description, Error};

fn explained(error: &Error) {
    assert!(error.is_usage() && error.message().contains("cargo feature `arrow`"), "{error}");
    assert!(error.help().is_some());
}

#[test]
fn names_of_parquet_files_say_what_is_missing() {
    for text in ["corpus = 'x.parquet'", "features = 'x.arrow#a'"] {
        let opened =
            Description::from_options(text.parse().unwrap()).unwrap().open(&Opener::default());
        explained(&opened.unwrap_err());
    }
}
