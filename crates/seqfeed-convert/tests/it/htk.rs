//! Corpora written as HTK's files.

use std::fs;

use seqfeed::io::Opener;
use seqfeed::{Description, Opened, Result, Source};
use seqfeed_convert::{ConvertOptions, ConvertPlan, Target};

#[test]
fn what_is_written_is_read_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    fs::write(path("feats.txt"), "a.b  [\n 1 2\n 3 4\n 5 6 ]\nspk/c.d\\  [\n 7 8 ]\n").unwrap();
    fs::write(path("ali.txt"), "a.b 0 0 3\nspk/c.d\\ 1\n").unwrap();
    let open = |features: &str, labels: &str, states: &str| {
        let text = format!("features = '{features}'\nlabels = '{labels}'\n{states}");
        Description::from_options(text.parse().unwrap()).unwrap().open(&Opener::default()).unwrap()
    };
    let features = format!("ark:{}", path("feats.txt"));
    let labels = format!("ark:{}", path("ali.txt"));
    let source = open(&features, &labels, "");
    let save = |names: &[&str]| -> Result<()> {
        let mut options = ConvertOptions::new(Target::parse(&path("out.htk"))?);
        options.states = names.iter().map(|&name| name.to_owned()).collect();
        ConvertPlan::new(source.corpus(), options)?.run(&|_samples| {}).map(drop)
    };
    let contents = |opened: &Opened| -> Vec<(String, Vec<u8>, Vec<u8>)> {
        let mut blocks = opened.corpus().new_blocks();
        opened.corpus().load(&[0, 1], &mut blocks).unwrap();
        let bytes = |block: usize, number: usize| blocks[block].samples(number).bytes().to_vec();
        let index = opened.corpus().index();
        (0..2).map(|n| (index.key(n as u32).to_string(), bytes(0, n), bytes(1, n))).collect()
    };
    for (names, states) in
        [(&[][..], "s0\ns1\ns2\ns3\n"), (&["sil", "ah_s2"], "sil\nah_s2\ns2\ns3\n")]
    {
        save(names).unwrap();
        assert_eq!(fs::read_to_string(path("out.states")).unwrap(), states);
        let states = format!("states = '{}'", path("out.states"));
        let again = open(&path("out.scp"), &path("out.mlf"), &states);
        assert_eq!(contents(&again), contents(&source));
    }
    // Names that CNTK would read with their quotes, or that are another class's.
    let before = fs::read(path("out.mlf")).unwrap();
    for names in [&["1"][..], &["a b"], &["\"x"], &["\u{e4}"], &["a", "a"], &["s1"], &[""]] {
        assert!(save(names).is_err(), "{names:?}");
    }
    assert_eq!(fs::read(path("out.mlf")).unwrap(), before);
}
