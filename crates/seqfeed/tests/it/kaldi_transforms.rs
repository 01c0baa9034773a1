//! Transforms that do what Kaldi's tools do: the same values, bit for bit.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use seqfeed::io::Opener;
use seqfeed::{Description, Error, Source};

use crate::job::shared;

/// The values of each utterance, as bits; and their dimension.
type Values = (usize, BTreeMap<String, Vec<u32>>);

fn load(directory: &Path, text: &str) -> Result<Values, Error> {
    let description = Description::from_options(text.parse().unwrap())?;
    let opened = description.open(&Opener::default().in_directory(Some(directory.into())))?;
    let corpus = opened.corpus();
    let index = corpus.index();
    let mut values = BTreeMap::new();
    // Backwards and one by one, as no tool works.
    for sequence in (0..index.len() as u32).rev() {
        let mut blocks = corpus.new_blocks();
        corpus.load(&[sequence], &mut blocks)?;
        let bits = blocks[0].samples(0).bytes().as_chunks().0.iter().copied();
        let bits = bits.map(u32::from_ne_bytes).collect();
        values.insert(index.key(sequence).to_string(), bits);
    }
    Ok((corpus.streams()[0].dim, values))
}

/// The features with a transform, and the golden file that they must equal.
const CASES: &[(&str, &str)] = &[
    ("select,dims=0,3-4,2-0", "select"),
    ("splice,left=2,right=1", "splice"),
    ("splice", "splice_def"),
    ("splice,offsets=[-2,-1,0,1]", "splice"),
    ("deltas", "deltas"),
    ("deltas,order=1,window=3", "deltas1"),
    ("deltas,truncate=3", "deltas_tr"),
    ("subsample,n=3,offset=1", "subsample"),
    ("subsample,n=-2", "subsample_rep"),
    ("cmvn,stats=ark:tools/cmvn_spk,utt2spk=ark:inputs/utt2spk", "acmvn_spk"),
    ("cmvn,stats=ark:tools/cmvn_spk,utt2spk=inputs/utt2spk,norm-vars=true", "acmvn_spk_var"),
    ("cmvn,by=speaker,utt2spk=inputs/utt2spk", "acmvn_spk"),
    ("cmvn,by=speaker,utt2spk=ark:inputs/utt2spk,norm-vars=true", "acmvn_spk_var"),
    ("cmvn,stats=tools/cmvn_glob,norm-vars=true", "acmvn_glob"),
    ("cmvn,stats=tools/cmvn_glob,norm-vars=true,skip-dims=1:3", "acmvn_skip"),
    ("cmvn,stats=tools/cmvn_glob,reverse=true,norm-vars=true", "acmvn_rev"),
];

#[test]
fn transforms_do_what_kaldis_tools_did() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let features = "source = 'ark:inputs/t_a.ark'";
    for (transform, file) in CASES {
        let text = format!("[streams.features]\n{features}\ntransforms = \"{transform}\"\n");
        let found = load(&golden, &text).unwrap_or_else(|error| panic!("{transform}: {error}"));
        let expected = load(&golden, &format!("features = 'ark:tools/{file}'")).unwrap();
        assert_eq!(found, expected, "{transform}");
    }
    // Products differ by how the library rounds: by no more than two units in the last place of
    // the largest terms.
    let text =
        format!("[streams.features]\n{features}\ntransforms = 'transform,matrix=inputs/tr.mat'\n");
    let (found, expected) =
        (load(&golden, &text).unwrap(), load(&golden, "features = 'ark:tools/transform'").unwrap());
    assert_eq!(found.0, expected.0);
    assert_eq!(found.1.keys().collect::<Vec<_>>(), expected.1.keys().collect::<Vec<_>>());
    let values = found.1.values().flatten().zip(expected.1.values().flatten());
    for (found, expected) in values.map(|(a, b)| (f32::from_bits(*a), f32::from_bits(*b))) {
        assert!((found - expected).abs() <= 2.0 * f32::EPSILON * expected.abs().max(1.0));
    }
}

#[test]
fn own_statistics_are_those_of_compute_cmvn_stats() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let of = |transform: &str| {
        let features = "[streams.features]\nsource = 'ark:inputs/t_a.ark'";
        load(&golden, &format!("{features}\ntransforms = \"{transform}\"\n")).unwrap()
    };
    for options in ["", ",norm-vars=true", ",norm-vars=true,skip-dims=0-1", ",reverse=true"] {
        let own = of(&format!("cmvn,by=utterance{options}"));
        assert_eq!(own, of(&format!("cmvn,stats=ark:tools/cmvn_utt{options}")), "{options}");
    }
}

#[test]
fn sliding_windows_are_those_of_kaldi() {
    let Some(golden) = shared("golden/kaldi_sound") else { return };
    let cases = [
        ("sliding-cmvn", "long", "sliding_default"),
        ("sliding-cmvn,center=true", "long", "sliding_center"),
        ("sliding-cmvn,cmn-window=300,norm-vars=true", "long", "sliding_w300_var"),
        ("sliding-cmvn,cmn-window=300,min-cmn-window=1,norm-vars=true", "long", "sliding_min1_var"),
        ("sliding-cmvn,cmn-window=1,min-cmn-window=1,center=true", "long", "sliding_w1_center"),
        ("sliding-cmvn,norm-vars=true,center=true,cmn-window=300", "mfcc", "sliding_sid_var"),
    ];
    for (transform, from, file) in cases {
        let features = format!("[streams.features]\nsource = 'ark:inputs/{from}.ark'");
        let found = load(&golden, &format!("{features}\ntransforms = '{transform}'\n")).unwrap();
        let expected = load(&golden, &format!("features = 'ark:out/{file}.ark'")).unwrap();
        assert_eq!(found, expected, "{transform}");
    }
}

#[test]
fn statistics_may_be_text() {
    let Some(golden) = shared("golden/kaldi") else { return };
    let features = "[streams.features]\nsource = 'ark:inputs/t_a.ark'";
    let of = |file: &str| {
        let transform = format!("'cmvn,norm-vars=true,stats=tools/{file}'");
        load(&golden, &format!("{features}\ntransforms = {transform}\n")).unwrap().1
    };
    let (binary, text) = (of("cmvn_glob"), of("cmvn_glob_t"));
    for (a, b) in binary.values().flatten().zip(text.values().flatten()) {
        assert!((f32::from_bits(*a) - f32::from_bits(*b)).abs() < 1e-5);
    }
}

/// Three utterances of two speakers.
fn write(directory: &Path) {
    let features = "a1 [\n 1 2\n 3 4 ]\na2 [\n 5 6\n 7 -8 ]\nb1 [\n 2 2\n 4 8 ]\n";
    fs::write(directory.join("feats.ark"), features).unwrap();
    fs::write(directory.join("utt2spk"), "a1 a\na2 a\nb1 b\n").unwrap();
    fs::write(directory.join("trans.ark"), "a [\n 1 0\n 0 1 ]\nb [\n 0 1\n 1 0 ]\n").unwrap();
    fs::write(directory.join("affine.mat"), " [\n 1 1 0.5 ]\n").unwrap();
    let json = r#"{"mean_stat": [22, 14], "var_stat": [104, 188], "frame_num": 6}"#;
    fs::write(directory.join("global_cmvn"), json).unwrap();
    fs::write(directory.join("glob.mat"), " [\n 22 14 6\n 104 188 0 ]\n").unwrap();
    fs::write(directory.join("htk"), "<CEPSNORM> <USER>\n<MEAN> 2\n 1 -1\n").unwrap();
}

fn with(directory: &Path, transforms: &str) -> Result<BTreeMap<String, Vec<f32>>, Error> {
    let text = format!("[streams.features]\nsource = 'ark:feats.ark'\ntransforms = {transforms}\n");
    let (_, values) = load(directory, &text)?;
    let floats = |bits: Vec<u32>| bits.into_iter().map(f32::from_bits).collect();
    Ok(values.into_iter().map(|(key, bits)| (key, floats(bits))).collect())
}

#[test]
fn statistics_and_matrices_of_speakers() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let with = |transforms: &str| with(directory.path(), transforms).unwrap();
    let speaker = with("'cmvn,by=speaker,utt2spk=utt2spk'");
    assert_eq!(
        (&speaker["a1"], &speaker["b1"]),
        (&vec![-3., 1., -1., 3.], &vec![-1., -3., 1., 3.])
    );
    let utterance = with("'cmvn,by=utterance,norm-vars=true'");
    assert_eq!(utterance["a1"], [-1.0, -1.0, 1.0, 1.0]);
    let global = with("'cmvn,by=global,norm-vars=true'");
    assert_eq!(global, with("'cmvn,stats=glob.mat,norm-vars=true'"));
    assert_eq!(global, with("'cmvn,stats=global_cmvn,norm-vars=true'"));
    assert_eq!(with("'cmvn,stats=htk'")["a1"], [0.0, 3.0, 2.0, 5.0]);
    let swapped = with("'transform,matrix=ark:trans.ark,utt2spk=utt2spk'");
    assert_eq!((&swapped["a1"], &swapped["b1"]), (&vec![1., 2., 3., 4.], &vec![2., 2., 8., 4.]));
    assert_eq!(with("'transform,matrix=affine.mat'")["a2"], [11.5, -0.5]);
    // One after another: the statistics are those of what the transforms before give.
    let chained = with("['transform,matrix=affine.mat', 'cmvn,by=global']");
    assert_eq!(chained["a1"], [3.5 - 6.5, 7.5 - 6.5]);
}

#[test]
fn plain_transforms() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    let with = |transforms: &str| with(directory.path(), transforms).unwrap();
    assert_eq!(with("{ name = 'scale', factor = [2, 1], offset = 1 }")["a1"], [3., 3., 7., 5.]);
    assert_eq!(with("'clip,min=2,max=3.5'")["a2"], [3.5, 3.5, 3.5, 2.0]);
    assert_eq!(with("'log,floor=1'")["a2"][3], 0.0);
    assert_eq!(with("'stack,m=3,n=2'")["a1"], [1., 2., 1., 2., 3., 4.]);
    let deltas = &with("'shift-deltas,num-blocks=1'")["a1"];
    assert_eq!(*deltas, [1., 2., 1., 1., 3., 4., 1., 1.]);
}

#[test]
fn labels_follow_stacked_frames() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    fs::write(directory.path().join("ali.ark"), "a1 3 5\na2 4 6\nb1 0 1\n").unwrap();
    let streams = "[streams.features]\nsource = 'ark:feats.ark'\n[streams.labels]\n\
                   source = 'ark:ali.ark'\nkind = 'label'\n";
    let open = |text: &str| {
        let description = Description::from_options(text.parse().unwrap()).unwrap();
        let opener = Opener::default().in_directory(Some(directory.path().into()));
        description.open(&opener).unwrap()
    };
    let opened = open(&format!("transforms = 'stack,m=3,n=2'\n{streams}"));
    let mut blocks = opened.corpus().new_blocks();
    opened.corpus().load(&[1], &mut blocks).unwrap();
    assert_eq!((blocks[0].dim(), blocks[0].sequence_len(0)), (6, 1));
    assert_eq!(blocks[1].samples(0).bytes(), 4i32.to_ne_bytes());
    let opened = open(&format!("{streams}transforms = 'one-hot,dim=7'\n"));
    let mut blocks = opened.corpus().new_blocks();
    opened.corpus().load(&[0], &mut blocks).unwrap();
    let rows = blocks[1].samples(0).bytes().as_chunks().0.iter().copied().map(f32::from_ne_bytes);
    let ones: Vec<usize> =
        rows.enumerate().filter(|(_, value)| *value == 1.0).map(|(at, _)| at).collect();
    assert_eq!((ones, blocks[1].samples(0).len()), (vec![3, 12], 2));
    let small = open(&format!("{streams}transforms = 'one-hot,dim=5'\n"));
    let error = small.corpus().load(&[0], &mut small.corpus().new_blocks()).unwrap_err();
    assert!(error.message().contains("label 5"), "{error}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path());
    fs::write(directory.path().join("c.ark"), "c [\n 1 2 3\n 1 2 3 ]\n").unwrap();
    fs::write(directory.path().join("three"), " [\n 1 2 3 4\n 1 2 3 4 ]\n").unwrap();
    fs::write(directory.path().join("one"), " [\n 1 2 3 ]\n").unwrap();
    fs::write(directory.path().join("other"), "{}").unwrap();
    let cases = [
        ("'cmvn'", "there is no `stats`"),
        ("'cmvn,stats=one,by=global'", "two ways to say the same"),
        ("'cmvn,by=speaker'", "there is no `utt2spk`"),
        ("'cmvn,by=global,utt2spk=utt2spk'", "no effect"),
        ("'cmvn,stats=glob.mat,utt2spk=utt2spk'", "for a table of statistics"),
        ("'cmvn,stats=ark:c.ark'", "is for the sequences of the corpus"),
        ("'cmvn,stats=three'", "of 3 dimensions, the features of 2"),
        ("'cmvn,stats=one'", "should have two rows"),
        ("'cmvn,stats=other'", "mean_stat"),
        ("'cmvn,stats=htk,norm-vars=true'", "there is no <VARIANCE>"),
        ("'cmvn,by=utterance,norm-means=false'", "nothing to normalize"),
        ("'cmvn,by=utterance,skip-dims=2'", "there is no dimension 2"),
        ("'cmvn,by=all'", "all"),
        ("'transform,matrix=three'", "does not fit features of dimension 2"),
        ("'transform,matrix=affine.mat,utt2spk=utt2spk'", "for a table of matrices"),
        ("'stack,m=0,n=1'", "`m` and `n` are numbers"),
        ("'one-hot,dim=3'", "there are no labels"),
        ("'scale,factor=[1,2,3]'", "has 3 numbers, but stream features has 2"),
        ("'splice,left=10001'", "at most 10000"),
    ];
    for (transforms, expected) in cases {
        let error = with(directory.path(), transforms).map(drop).expect_err(transforms);
        let shown = format!("{error} {:?}", error.help());
        assert!(shown.contains(expected), "{transforms}: {shown}");
    }
}
