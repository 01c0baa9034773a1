//! Names of Arrow and Parquet files, in a library without the feature `arrow`.

use seqfeed::Description;
use seqfeed::io::Opener;
use seqfeed_convert::{ConvertOptions, ConvertPlan, Target};

#[test]
fn names_of_parquet_files_say_what_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.ark");
    std::fs::write(&path, "a  [ 1 2 ]\n").unwrap();
    let text = format!("features = 'ark:{}'", path.display());
    let opened =
        Description::from_options(text.parse().unwrap()).unwrap().open(&Opener::default()).unwrap();
    let target = Target::parse("x.parquet").unwrap();
    let error = ConvertPlan::new(opened.corpus(), ConvertOptions::new(target)).unwrap_err();
    assert!(error.is_usage() && error.message().contains("cargo feature `arrow`"), "{error}");
    assert!(error.help().is_some());
}
