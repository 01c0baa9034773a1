//! A transform that is registered from outside: the one of the example.

#[path = "../../examples/own_transform.rs"]
#[allow(dead_code, reason = "its `main` is not called here")]
mod example;

use std::fs;

use seqfeed::io::Opener;
use seqfeed::{Description, Source};
use seqfeed_convert::{Check, CheckOptions, ConvertOptions, ConvertPlan, Target, fingerprint};

#[test]
fn it_is_fed_converted_and_checked() {
    example::register().unwrap();
    assert!(example::register().unwrap_err().message().contains("already"));
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    fs::write(path("feats.ark"), "1  [\n  3 4\n  1 0 ]\n2  [\n  2 2 ]\n").unwrap();
    let text = format!(
        "transforms = 'energy'\n[streams.features]\nsource = 'ark:{}'\n[feed]\norder = 'sequential'",
        path("feats.ark")
    );
    let description = Description::from_toml(&text).unwrap();
    let check = Check::of(&description, &CheckOptions::default(), |_| {}, |_| {}).unwrap();
    assert!(check.findings().is_empty(), "{:?}", check.findings());

    let opened = description.open(&Opener::default()).unwrap();
    let mut energies = Vec::new();
    for minibatch in opened.one_sweep(0, 0, 1, None).feed(None).unwrap() {
        energies.extend_from_slice(minibatch.unwrap().dense("energy").unwrap());
    }
    assert_eq!(energies, [25.0, 1.0, 8.0]);

    // Described again, it is the same; converted, it holds what was fed.
    let explicit = description.explicit(&opened, &Opener::default()).unwrap();
    let again = Description::from_toml(&explicit.to_toml()).unwrap();
    let again = again.open(&Opener::default()).unwrap();
    let print = fingerprint(opened.corpus().as_ref()).unwrap();
    assert_eq!(fingerprint(again.corpus().as_ref()).unwrap(), print);
    let target = Target::parse(&path("both.ctf")).unwrap();
    let plan = ConvertPlan::new(opened.corpus(), ConvertOptions::new(target)).unwrap();
    let report = plan.run(&|_samples| {}).unwrap();
    assert_eq!(plan.verify(&report).unwrap().shards, 1);
    let written = Description::of_name(&path("both.ctf")).unwrap().description;
    let written = written.open(&Opener::default()).unwrap();
    let names: Vec<_> = written.corpus().streams().iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["features", "energy"]);
}
