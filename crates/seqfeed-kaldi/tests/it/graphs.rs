//! Transducers, lattices, and examples for networks: files that Kaldi wrote, and damaged ones.

use std::fs;

use proptest::prelude::*;
use seqfeed_core::Result;
use seqfeed_kaldi::{
    AnyObject, ChainSupervision, CompactLattice, CompactLatticeWeight, FstArc, FstState, FstWeight,
    GeneralMatrix, Holder, Index, Lattice, LatticeWeight, Matrix, Mode, NnetChainExample,
    NnetChainSupervision, NnetExample, NnetIo, ObjectReader, ObjectType, SparseMatrix,
    SparseVector, StdVectorFst, SupervisionFsts, TropicalWeight, Vector, VectorFst, write_object,
};

use crate::objects::{golden, rewritten, round_trip};
use crate::tables::shared;

#[test]
fn graphs_are_written_as_kaldi_wrote_them() {
    let Some(directory) = shared("golden/kaldi/fstlat") else { return };
    golden::<StdVectorFst>(&directory, "fst.bin.ark", "fst.txt.ark");
    golden::<Lattice>(&directory, "lat.bin.ark", "lat.txt.ark");
    golden::<CompactLattice>(&directory, "clat.bin.ark", "clat.txt.ark");
    golden::<StdVectorFst>(&directory, "", "fst.tool.txt");
    golden::<CompactLattice>(&directory, "", "clat.tool.txt");
    golden::<Lattice>(&directory, "clat_as_lat.bin", "clat_as_lat.txt");
    golden::<CompactLattice>(&directory, "lat_as_clat.bin", "lat_as_clat.txt");
    for name in ["cegs", "cegs.merged", "dense.egs", "egs_nocomp"] {
        golden::<NnetExample>(&directory, &format!("{name}.ark"), &format!("{name}.txt.ark"));
    }
    for name in ["cegs.shuf", "cegs.subset"] {
        golden::<NnetExample>(&directory, &format!("{name}.ark"), "");
    }
    golden::<NnetChainExample>(&directory, "chain.ark", "chain.txt.ark");
    let read = |name: &str| fs::read(directory.join(name)).unwrap();
    // The one kind from the other.
    let (written, _) = rewritten::<Lattice>(&read("clat.bin.ark"), Mode::Text);
    assert_eq!(written, read("clat_as_lat.txt"));
    let (written, _) = rewritten::<Lattice>(&read("clat.bin.ark"), Mode::Binary);
    assert_eq!(written, read("clat_as_lat.bin"));
    let (written, _) = rewritten::<CompactLattice>(&read("lat.bin.ark"), Mode::Text);
    assert_eq!(written, read("lat_as_clat.txt"));
    let (written, _) = rewritten::<CompactLattice>(&read("lat.bin.ark"), Mode::Binary);
    assert_eq!(written, read("lat_as_clat.bin"));
    let (written, _) = rewritten::<CompactLattice>(&read("lat.txt.ark"), Mode::Text);
    assert_eq!(written, read("lat_as_clat.txt"));
    for (name, expected) in [
        ("fst", ObjectType::Fst),
        ("lat", ObjectType::Lattice),
        ("clat", ObjectType::CompactLattice),
    ] {
        for (extension, mode) in [("bin", Mode::Binary), ("txt", Mode::Text)] {
            let bytes = read(&format!("{name}.{extension}.ark"));
            let (written, values) = rewritten::<AnyObject>(&bytes, mode);
            assert!(written == bytes, "{name}.{extension}.ark is written otherwise");
            assert_eq!(values[0].object_type(), expected);
        }
    }
    for name in ["cegs.ark", "chain.ark"] {
        let (written, _) = rewritten::<AnyObject>(&read(name), Mode::Binary);
        assert!(written == read(name), "{name} is written otherwise");
    }
    for name in ["cegs.txt.ark", "chain.txt.ark"] {
        let (written, _) = rewritten::<AnyObject>(&read(name), Mode::Text);
        assert!(written == read(name), "{name} is written otherwise");
    }
}

/// From text to binary, with the property bits that Kaldi's way of reading text gives.
#[test]
fn text_gives_the_binary_files_that_kaldi_makes_of_it() {
    let Some(directory) = shared("golden/kaldi") else { return };
    let read = |name: &str| fs::read(directory.join(name)).unwrap();
    let source = read("inputs/fst.src.txt");
    assert_eq!(rewritten::<StdVectorFst>(&source, Mode::Binary).0, read("fstlat/fst.bin.ark"));
    assert_eq!(rewritten::<StdVectorFst>(&source, Mode::Text).0, read("fstlat/fst.txt.ark"));
    let source = read("inputs/lat.src.txt");
    assert_eq!(rewritten::<Lattice>(&source, Mode::Binary).0, read("fstlat/lat.bin.ark"));
    assert_eq!(rewritten::<Lattice>(&source, Mode::Text).0, read("fstlat/lat.txt.ark"));
    let source = read("inputs/clat.src.txt");
    assert_eq!(rewritten::<CompactLattice>(&source, Mode::Binary).0, read("fstlat/clat.bin.ark"));
    assert_eq!(rewritten::<CompactLattice>(&source, Mode::Text).0, read("fstlat/clat.txt.ark"));
    for source in ["inputs/chaineg.src.txt", "fstlat/chain.txt.ark"] {
        let (written, _) = rewritten::<NnetChainExample>(&read(source), Mode::Binary);
        assert_eq!(written, read("fstlat/chain.ark"), "{source}");
    }
}

fn from_text<T: Holder>(text: &str) -> Result<T> {
    ObjectReader::from_bytes("text", text).read()
}

fn written<T: Holder>(value: &T, mode: Mode) -> Vec<u8> {
    let mut out = Vec::new();
    write_object(value, &mut out, mode).unwrap();
    out
}

fn text<T: Holder>(value: &T) -> String {
    String::from_utf8(written(value, Mode::Text)).unwrap()
}

#[test]
fn text_of_transducers() {
    // As it is written again, where that differs.
    let cases = [
        ("\n3\t0\t1\t2\n0\t0.5\n1\tInfinity\n2\tInfinity\n\n", None),
        (
            "\n0 4 1 1 BadNumber\n",
            Some("\n0\t4\t1\t1\tBadNumber\n1\tInfinity\n2\tInfinity\n3\tInfinity\n4\tInfinity\n\n"),
        ),
        (
            " \r\n0\t1\t+1\t-2 1e40\r\n1 -inf\r\n \r\nnext",
            Some("\n0\t1\t1\t-2\tInfinity\n1\t-Infinity\n\n"),
        ),
        ("\n0 1 0 0 1.00000005960464477539\n1 0\n1 2\n", Some("\n0\t1\t0\t0\t1\n1\t2\n\n")),
        ("\n\n", None),
    ];
    for (source, again) in cases {
        let fst: StdVectorFst = from_text(source).unwrap();
        assert_eq!(text(&fst), again.unwrap_or(source), "{source}");
    }
    let error = from_text::<StdVectorFst>("\n0 1 2 3\n0 1 2\n\n").unwrap_err();
    assert!(error.to_string().starts_with("text @ 9: "), "{error}");
    // Numbers need not be in turn, and no more states are made than lines can mean.
    let far: StdVectorFst = from_text("\n9 1000 1 1\n1000\n\n").unwrap();
    assert_eq!((far.start, far.states.len()), (Some(9), 1001));
    for source in [
        "\n0 2147483647 1 1\n\n",
        "\n-1\n\n",
        "\n0 -1 1 1\n\n",
        "\n0 x\n\n",
        "\n0 1 1 1 1 1\n\n",
        "\n0 1 1 1 0x\n\n",
        "\n4294967296\n\n",
        "  0 1 1 1\n\n",
        "",
    ] {
        assert!(from_text::<StdVectorFst>(source).is_err(), "{source}");
    }
    // Without a start there is no text.
    let lost = StdVectorFst { states: vec![FstState::default()], ..VectorFst::default() };
    assert_eq!(text(&lost), "\n\n");
}

/// What either kind of lattice gives, read as the other: Kaldi's order of states.
#[test]
fn lattices_of_the_other_kind() {
    let compact = |source| text(&from_text::<CompactLattice>(source).unwrap());
    let plain = |source| text(&from_text::<Lattice>(source).unwrap());
    // Can be both: is read as what is wanted.
    assert_eq!(compact("\n1\n0\n\n"), "\n1\n0\n\n");
    assert_eq!(plain("\n1\n0\n\n"), "\n1\n0\n\n");
    // A ring is left in the order in which it was found; what cannot be reached stays.
    assert_eq!(
        compact("\n2 1 5 9 1,2\n1 3 6 0\n3 2 7 0 0,1\n3\n0 3 8 8\n\n"),
        "\n0\t1\t9\t1,2,5_6\n1\t0\t0\t0,1,7\n1\n2\t1\t8\t0,0,8\n\n"
    );
    // Without one, states are put in order: those that cannot be reached before the others.
    assert_eq!(
        compact("\n0 2 1 1\n0 1 2 2\n1 2 3 3\n2 4 0 0 1,0\n4 5 4 0 0,1\n5\n3 2 6 6\n\n"),
        "\n1\t3\t1\t0,0,1\n1\t2\t2\t0,0,2\n0\t3\t6\t0,0,6\n2\t3\t3\t0,0,3\n3\t4\t0\t1,1,4\n4\n\n"
    );
    assert_eq!(
        plain("\n0 1 20 1,2,7_8\n0 1,1,9\n1 0,0,\n\n"),
        "\n0\t2\t9\t0\t1,1\n0\t3\t7\t20\t1,2\n1\n2\n3\t1\t8\t0\n\n"
    );
    for source in
        ["\n0 1 1 1 1,2,3\n\n", "\n0 1 5 1,2,\n0 1 5 6\n\n", "\n0 1 5 1,2,3_\n\n", "\n0 1\n\n"]
    {
        assert!(from_text::<Lattice>(source).is_err(), "{source}");
        assert!(from_text::<CompactLattice>(source).is_err(), "{source}");
    }
}

/// OpenFst's header with what follows it.
fn openfst(fst: &str, arcs: &str, version: i32, numbers: [i64; 4], rest: &[u8]) -> Vec<u8> {
    let mut bytes = 0x7eb2_fdd6_i32.to_le_bytes().to_vec();
    for name in [fst, arcs] {
        bytes.extend_from_slice(&(name.len() as i32).to_le_bytes());
        bytes.extend_from_slice(name.as_bytes());
    }
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.extend_from_slice(&0i32.to_le_bytes());
    numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    bytes.extend_from_slice(rest);
    bytes
}

#[test]
fn lattices_of_doubles_are_read() {
    let mut rest = Vec::new();
    let numbers = |rest: &mut Vec<u8>, a: f64, b: f64| {
        rest.extend_from_slice(&a.to_le_bytes());
        rest.extend_from_slice(&b.to_le_bytes());
    };
    numbers(&mut rest, f64::INFINITY, f64::INFINITY);
    rest.extend_from_slice(&1i64.to_le_bytes());
    rest.extend_from_slice(&[7, 0, 0, 0, 8, 0, 0, 0]);
    numbers(&mut rest, 0.1, -2.0);
    rest.extend_from_slice(&1i32.to_le_bytes());
    numbers(&mut rest, 1.0, 0.0);
    rest.extend_from_slice(&0i64.to_le_bytes());
    let bytes = openfst("vector", "lattice8", 2, [3, 0, 2, 0], &rest);
    let lattice: Lattice = ObjectReader::from_bytes("doubles", bytes).read().unwrap();
    assert_eq!(text(&lattice), "\n0\t1\t7\t8\t0.1,-2\n1\t1,0\n\n");
    assert_eq!(lattice.states[0].arcs[0].weight.graph, 0.1);
    let mut compact: Vec<u8> = rest[..16].to_vec();
    compact.extend_from_slice(&0i32.to_le_bytes());
    compact.extend_from_slice(&0i64.to_le_bytes());
    let bytes = openfst("vector", "compactlattice84", 2, [3, 0, 1, 0], &compact);
    let lattice: CompactLattice = ObjectReader::from_bytes("doubles", bytes).read().unwrap();
    assert_eq!(text(&lattice), "\n0\tInfinity,Infinity,\n\n");
}

#[test]
fn binary_files_that_are_wrong() {
    let state = [&f32::INFINITY.to_le_bytes()[..], &1i64.to_le_bytes()].concat();
    let arc = |to: i32| [&[1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0][..], &to.to_le_bytes()].concat();
    let fst = |numbers, rest: &[u8]| openfst("vector", "standard", 2, numbers, rest);
    let read = |bytes| ObjectReader::from_bytes("wrong", bytes).read::<StdVectorFst>();
    let good = [state.clone(), arc(0)].concat();
    assert!(read(fst([3, 0, 1, 0], &good)).is_ok());
    assert_eq!(read(fst([3, -1, 1, 0], &good)).unwrap().start, None);
    // Not known how many states there are: all that follow.
    assert_eq!(read(fst([3, 0, -1, 0], &good)).unwrap().states.len(), 1);
    let at = fst([3, 0, 1, 0], &good).len() - 4;
    for to in [1, -1, i32::MAX] {
        let error = read(fst([3, 0, 1, 0], &[state.clone(), arc(to)].concat())).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with(&format!("wrong @ {at}: ")), "{error}");
        assert!(error.contains(&format!("there is no state {to}")), "{error}");
    }
    for numbers in [[3, 1, 1, 0], [3, i64::MAX, 1, 0], [3, 0, i64::MAX, 0], [3, 0, 1 << 30, 0]] {
        assert!(read(fst(numbers, &good)).is_err(), "{numbers:?}");
    }
    let mut many = state;
    many[4..12].copy_from_slice(&(i64::MAX / 16).to_le_bytes());
    assert!(read(fst([3, 0, 1, 0], &many)).is_err());
    many[4..12].copy_from_slice(&(-1i64).to_le_bytes());
    assert!(read(fst([3, 0, 1, 0], &many)).is_err());
    for (kind, arcs, version) in
        [("const", "standard", 2), ("vector", "log", 2), ("vector", "standard", 1)]
    {
        assert!(read(openfst(kind, arcs, version, [3, 0, 1, 0], &good)).is_err(), "{kind} {arcs}");
    }
}

/// Chain supervision with this behind `<LabelDim>` 4.
fn supervision(rest: &[&[u8]]) -> Result<ChainSupervision> {
    let head = b"\0B<Supervision> <Weight> \x04\0\0\x80\x3f<NumSequences> \x04\x01\0\0\0\
        <FramesPerSeq> \x04\x02\0\0\0<LabelDim> \x04\x04\0\0\0";
    ObjectReader::from_bytes("supervision", [&head[..], &rest.concat()].concat()).read()
}

#[test]
fn forms_of_supervision() {
    // One state, final: an element with the label -1.
    let element = |label: i32, weight: f32, next: i32| {
        [label.to_le_bytes(), weight.to_le_bytes(), next.to_le_bytes()].concat()
    };
    let acceptor = |ends: &[u32], elements: &[Vec<u8>]| {
        let mut rest: Vec<u8> = ends.iter().flat_map(|end| end.to_le_bytes()).collect();
        elements.iter().for_each(|element| rest.extend_from_slice(element));
        let states = ends.len() as i64 - 1;
        openfst("compact_acceptor", "standard", 2, [1, 0, states, 0], &rest)
    };
    let one = acceptor(&[0, 1], &[element(-1, 0.5, -1)]);
    let end: &[u8] = b"</Supervision> ";
    // From before there was end-to-end training.
    let old = supervision(&[&one, end]).unwrap();
    let SupervisionFsts::Whole(fst) = &old.fsts else { panic!() };
    assert_eq!(fst.states[0].final_weight, Some(TropicalWeight(0.5)));
    let new = supervision(&[b"<End2End> F", &one, end]).unwrap();
    assert_eq!(new, old);
    // The file knew almost nothing of the transducer; what is written says all.
    let bytes = written(&new, Mode::Binary);
    let again: ChainSupervision = ObjectReader::from_bytes("again", bytes).read().unwrap();
    let SupervisionFsts::Whole(fst) = &again.fsts else { panic!() };
    assert_eq!(fst.properties, Some(0x9569_5a95_0001));
    // End to end, as many as there are sequences, each a compact acceptor.
    let each = supervision(&[
        b"<End2End> T<Fsts> ",
        &one,
        b"</Fsts> <AlignmentPdfs> \x04\x01\0\0\0\x07\0\0\0",
        end,
    ]);
    let mut each = each.unwrap();
    assert_eq!(each.alignment_pdfs, [7]);
    let SupervisionFsts::EndToEnd(fsts) = &mut each.fsts else { panic!() };
    fsts[0].properties = Some(0x9569_5a95_0001);
    round_trip(&each, Mode::Binary);
    assert_eq!(
        text(&each),
        "<Supervision> <Weight> 1 <NumSequences> 1 <FramesPerSeq> 2 <LabelDim> 4 <End2End> T \
         <Fsts> \n0\t0.5\n\n</Fsts> <AlignmentPdfs> [ 7 ]\n</Supervision> "
    );
    let read: ChainSupervision = from_text(&text(&each)).unwrap();
    assert_eq!(text(&read), text(&each));
    each.num_sequences = 2;
    assert!(write_object(&each, &mut Vec::new(), Mode::Binary).is_err());
    for wrong in [
        acceptor(&[0, 2], &[element(1, 0.0, 0), element(-1, 0.0, -1)]),
        acceptor(&[0, 1], &[element(1, 0.0, 1)]),
        acceptor(&[1, 1], &[element(-1, 0.0, -1)]),
        acceptor(&[0, 2, 1], &[element(-1, 0.0, -1)]),
        acceptor(&[0, u32::MAX], &[element(-1, 0.0, -1)]),
        acceptor(&[0, 1], &[]),
    ] {
        assert!(supervision(&[b"<End2End> F", &wrong, end]).is_err(), "{wrong:?}");
    }
    // No acceptor, or one that would be read as something else.
    for (ilabel, olabel) in [(1, 2), (-1, -1)] {
        let arc = FstArc { ilabel, olabel, weight: TropicalWeight(0.0), next_state: 0 };
        let states = vec![FstState { final_weight: None, arcs: vec![arc] }];
        let fst = VectorFst { start: Some(0), states, properties: None };
        let value = ChainSupervision { fsts: SupervisionFsts::Whole(fst), ..new.clone() };
        assert!(write_object(&value, &mut Vec::new(), Mode::Binary).is_err());
    }
}

#[test]
fn forms_of_derivative_weights() {
    let Some(directory) = shared("golden/kaldi/fstlat") else { return };
    let file = fs::read(directory.join("chain.ark")).unwrap();
    let (start, end) = (b"k1 ".len(), b"</NnetChainSup> </Nnet3ChainEg> ".len());
    let weights = b"<DW2> FV \x04\x02\0\0\0\0\0\x80\x3f\0\0\0\x3f";
    let before = &file[start..file.len() - end - weights.len()];
    assert!(file[..file.len() - end].ends_with(weights));
    let read = |weights: &[u8]| {
        let bytes = [before, weights, &file[file.len() - end..]].concat();
        ObjectReader::from_bytes("weights", bytes).read::<NnetChainExample>()
    };
    let weights_of = |bytes: &[u8]| read(bytes).unwrap().outputs[0].deriv_weights.clone();
    assert_eq!(weights_of(weights), Vector(vec![1.0, 0.5]));
    assert_eq!(weights_of(b""), Vector(vec![]));
    let bytes = weights_of(b"<DW> \x01\x03\0\0\0\0\x80\xff");
    assert_eq!(bytes, Vector(vec![0.0, 128.0 * (1.0 / 255.0), 1.0]));
    assert!(read(b"<DW3> FV \x04\0\0\0\0").is_err());
    assert!(read(b"<DW> FV \x04\0\0\0\0").is_err());
    let file = fs::read(directory.join("chain.txt.ark")).unwrap();
    let old = String::from_utf8(file).unwrap().replace("<DW2>", "<DW>");
    let (again, _) = rewritten::<NnetChainExample>(old.as_bytes(), Mode::Text);
    assert_eq!(String::from_utf8(again).unwrap(), old.replace("<DW>", "<DW2>"));
}

#[test]
fn indexes_in_bytes() {
    let eg = |indexes: &[u8], count: u8| {
        let head = b"\0B<Nnet3Eg> <NumIo> \x04\x01\0\0\0<NnetIo> a <I1V> \x04";
        let tail = b"FM \x04\0\0\0\0\x04\0\0\0\0</NnetIo> </Nnet3Eg> ";
        let bytes = [&head[..], &[count, 0, 0, 0], indexes, tail].concat();
        (ObjectReader::from_bytes("indexes", bytes.clone()).read::<NnetExample>(), bytes)
    };
    let whole = |n: u8, t: u8, x: u8| [127, 4, n, 0, 0, 0, 4, t, 0, 0, 0, 4, x, 0, 0, 0];
    let (read, bytes) =
        eg(&[&[124, 132, 1][..], &whole(2, 7, 3), &[255], &whole(2, 131, 3)].concat(), 6);
    let read = read.unwrap();
    let indexes = [(0, 124, 0), (0, 0, 0), (0, 1, 0), (2, 7, 3), (2, 6, 3), (2, 131, 3)];
    assert_eq!(read.io[0].indexes, indexes.map(|(n, t, x)| Index { n, t, x }));
    assert_eq!(written(&read, Mode::Binary), bytes);
    // The codes between are none.
    for code in [125, 126, 128, 131] {
        assert!(eg(&[code], 1).0.is_err(), "{code}");
    }
    // More than there are.
    assert!(eg(&[0], 255).0.is_err());
    // Kaldi reads no example without parts.
    assert!(write_object(&NnetExample::default(), &mut Vec::new(), Mode::Binary).is_err());
}

fn weight(graph: i8, acoustic: i8) -> LatticeWeight {
    LatticeWeight { graph: f32::from(graph) / 4.0, acoustic: f32::from(acoustic) / 8.0 }
}

/// Arcs of states: from, to, labels, two numbers of a weight.
type Arcs = Vec<(u8, u8, i32, i32, i8, i8)>;

fn fst<W: FstWeight>(arcs: &Arcs, weigh: impl Fn(i8, i8) -> W, acceptor: bool) -> VectorFst<W> {
    let count = arcs.iter().map(|arc| arc.0.max(arc.1)).max().unwrap_or(0) as usize + 1;
    let mut fst = VectorFst { start: Some(0), ..VectorFst::default() };
    fst.states.resize_with(count, FstState::default);
    for &(from, to, ilabel, olabel, a, b) in arcs {
        fst.states[from as usize].arcs.push(FstArc {
            ilabel,
            olabel: if acceptor { ilabel } else { olabel },
            weight: weigh(a, b),
            next_state: u32::from(to),
        });
    }
    for (number, state) in fst.states.iter_mut().enumerate().step_by(2) {
        state.final_weight = Some(weigh((number % 5) as i8, 0));
    }
    fst
}

fn arcs() -> impl Strategy<Value = Arcs> {
    let number = -9i8..9;
    prop::collection::vec((0u8..6, 0u8..6, 0i32..99, 0i32..99, number.clone(), number), 0..12)
}

/// The words on arcs that can be reached, sorted.
fn words(lattice: &CompactLattice) -> Vec<i32> {
    let mut reached = vec![false; lattice.states.len()];
    let mut waiting: Vec<u32> = lattice.start.into_iter().collect();
    let mut words = Vec::new();
    while let Some(state) = waiting.pop() {
        if !std::mem::replace(&mut reached[state as usize], true) {
            let arcs = &lattice.states[state as usize].arcs;
            words.extend(arcs.iter().map(|arc| arc.ilabel).filter(|&word| word != 0));
            waiting.extend(arcs.iter().map(|arc| arc.next_state));
        }
    }
    words.sort_unstable();
    words
}

fn all_modes<T: Holder + PartialEq + std::fmt::Debug>(value: &T) {
    let mut bytes = Vec::new();
    write_object(value, &mut bytes, Mode::Text).unwrap();
    let again: T = ObjectReader::from_bytes("text", bytes).read().unwrap();
    assert_eq!(&again, value);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn graphs(arcs in arcs()) {
        let standard = fst(&arcs, |a, _| TropicalWeight(f32::from(a) / 4.0), false);
        let lattice = fst(&arcs, weight, false);
        let compact = fst(&arcs, |a, b| CompactLatticeWeight {
            weight: weight(a, b),
            labels: (0..i32::from(a.unsigned_abs() % 4)).map(|label| label + i32::from(b)).collect(),
        }, true);
        all_modes(&standard);
        all_modes(&lattice);
        all_modes(&compact);
        // In binary the property bits come back as well.
        let mut read: Lattice = {
            let mut bytes = Vec::new();
            write_object(&lattice, &mut bytes, Mode::Binary).unwrap();
            ObjectReader::from_bytes("binary", bytes).read().unwrap()
        };
        prop_assert!(read.properties.is_some());
        round_trip(&read, Mode::Binary);
        read.properties = None;
        prop_assert_eq!(&read, &lattice);
        // Taken apart and put together, the words that can be reached come back, each once.
        let again = compact.to_lattice().to_compact();
        prop_assert_eq!(words(&again), words(&compact));
    }

    #[test]
    fn examples(
        rows in 1usize..6,
        indexes in prop::collection::vec((0i32..3, -400i32..400, 0i32..2), 0..9),
        arcs in arcs(),
        end_to_end: bool,
        pdfs in prop::collection::vec(0i32..99, 0..4),
    ) {
        let indexes: Vec<Index> = indexes.into_iter().map(|(n, t, x)| Index { n, t, x }).collect();
        let values = (0..rows * 2).map(|i| i as f32 / 4.0).collect();
        let full = GeneralMatrix::Full(Matrix { rows, cols: 2, values });
        let sparse = GeneralMatrix::Sparse(SparseMatrix {
            rows: vec![SparseVector { dim: 7, pairs: vec![(3, 1.0)] }; rows],
        });
        let input = NnetIo { name: "input".into(), indexes: indexes.clone(), features: full };
        let output = NnetIo { name: "output".into(), indexes: indexes.clone(), features: sparse };
        let example = NnetExample { io: vec![input.clone(), output] };
        round_trip(&example, Mode::Binary);
        all_modes(&example);
        let fst = fst(&arcs, |a, _| TropicalWeight(f32::from(a) / 4.0), true);
        // As bits that say nothing are replaced, those of a file.
        let mut bytes = Vec::new();
        let whole = ChainSupervision { fsts: SupervisionFsts::Whole(fst), ..Default::default() };
        write_object(&whole, &mut bytes, Mode::Binary).unwrap();
        let whole: ChainSupervision = ObjectReader::from_bytes("whole", bytes).read().unwrap();
        let SupervisionFsts::Whole(fst) = whole.fsts else { unreachable!() };
        let fsts = match end_to_end {
            true => SupervisionFsts::EndToEnd(vec![fst.clone(), fst]),
            false => SupervisionFsts::Whole(fst),
        };
        let supervision = ChainSupervision {
            weight: 0.5, num_sequences: 2, frames_per_sequence: 3, label_dim: 100, fsts,
            alignment_pdfs: pdfs,
        };
        let output = NnetChainSupervision {
            name: "output".into(), indexes, supervision, deriv_weights: Vector(vec![1.0, 0.25]),
        };
        let chain = NnetChainExample { inputs: vec![input], outputs: vec![output] };
        round_trip(&chain, Mode::Binary);
        let mut text = Vec::new();
        write_object(&chain, &mut text, Mode::Text).unwrap();
        let (twice, _) = rewritten::<NnetChainExample>(&[b"k ", &text[..]].concat(), Mode::Text);
        prop_assert_eq!(&twice[2..], &text[..]);
    }
}

/// Every way to cut a small object short is an error, in time and without much memory.
#[test]
fn what_is_cut_short_is_an_error() {
    let arcs = vec![(0, 1, 3, 4, 1, 2), (1, 2, 5, 6, 3, 4)];
    let lattice = fst(&arcs, weight, false);
    let compact = lattice.to_compact();
    let whole = fst(&arcs, |a, _| TropicalWeight(f32::from(a)), true);
    let mut bytes = Vec::new();
    write_object(&lattice, &mut bytes, Mode::Binary).unwrap();
    for cut in 0..bytes.len() {
        let read = ObjectReader::from_bytes("cut", &bytes[..cut]).read::<Lattice>();
        let error = read.unwrap_err().to_string();
        assert!(error.starts_with("cut @ "), "{error}");
    }
    bytes.clear();
    write_object(&compact, &mut bytes, Mode::Binary).unwrap();
    for cut in 0..bytes.len() {
        assert!(ObjectReader::from_bytes("cut", &bytes[..cut]).read::<CompactLattice>().is_err());
    }
    let output = NnetChainSupervision {
        name: "output".into(),
        supervision: ChainSupervision {
            fsts: SupervisionFsts::Whole(whole),
            ..ChainSupervision::default()
        },
        ..NnetChainSupervision::default()
    };
    let inputs = vec![NnetIo { name: "input".into(), ..NnetIo::default() }];
    let chain = NnetChainExample { inputs, outputs: vec![output] };
    for mode in [Mode::Binary, Mode::Text] {
        bytes.clear();
        write_object(&chain, &mut bytes, mode).unwrap();
        for cut in 0..bytes.len() - 1 {
            let read = ObjectReader::from_bytes("cut", &bytes[..cut]).read::<NnetChainExample>();
            assert!(read.is_err(), "{cut} of {}", bytes.len());
        }
    }
    // Numbers that lie.
    let mut lying = Vec::new();
    write_object(&lattice, &mut lying, Mode::Binary).unwrap();
    for at in 0..lying.len() {
        let mut damaged = lying.clone();
        damaged[at] ^= 0x7f;
        let _ = ObjectReader::from_bytes("lying", damaged).read::<Lattice>();
    }
    for text in [
        "\n0 9999999999 1 1\n\n",
        "\n5000000\n\n",
        "\n0 1 x 1\n\n",
        "\n0 1 1 1 1 1 1\n\n",
        "\n0 1 2 3 4,y\n\n",
        "0 1\n",
    ] {
        assert!(ObjectReader::from_bytes("text", text).read::<Lattice>().is_err(), "{text}");
    }
}

/// Whatever a byte is replaced by: what can be read can be read over, and written and read again.
fn bear_damage<T: Holder>(value: &T) {
    for mode in [Mode::Binary, Mode::Text] {
        let bytes = written(value, mode);
        for at in 0..bytes.len() {
            for replaced in [0, 1, b'\n', b'-', b'9', 0x7f, 0x80, 0xff, bytes[at] ^ 1] {
                let mut damaged = bytes.clone();
                damaged[at] = replaced;
                let mut reader = ObjectReader::from_bytes("damaged", damaged.clone());
                let Ok(read) = reader.read::<T>() else { continue };
                let end = reader.position();
                let mut reader = ObjectReader::from_bytes("damaged", damaged);
                reader.skip::<T>().unwrap();
                assert_eq!(reader.position(), end);
                let (mut once, mut twice) = (Vec::new(), Vec::new());
                if write_object(&read, &mut once, Mode::Binary).is_ok() {
                    let again: T = ObjectReader::from_bytes("once", once.clone()).read().unwrap();
                    write_object(&again, &mut twice, Mode::Binary).unwrap();
                    assert_eq!(once, twice);
                }
                let mut text = Vec::new();
                // Names with control characters are read but not written.
                if write_object(&read, &mut text, Mode::Text).is_ok() {
                    ObjectReader::from_bytes("text", text).read::<T>().unwrap();
                }
            }
            let cut = ObjectReader::from_bytes("cut", &bytes[..at]).read::<T>();
            assert!(mode == Mode::Text || cut.is_err(), "{at} of {}", bytes.len());
        }
    }
}

#[test]
fn damage_is_borne() {
    let arcs = vec![(0, 1, 3, 4, 1, 2), (1, 2, 5, 0, 3, 4), (2, 3, 5, 0, 0, 0), (1, 1, 0, 7, 0, 1)];
    let standard = fst(&arcs, |a, _| TropicalWeight(f32::from(a) / 3.0), true);
    bear_damage(&standard);
    let lattice = fst(&arcs, weight, false);
    bear_damage(&lattice);
    bear_damage(&lattice.to_compact());
    let fsts = SupervisionFsts::EndToEnd(vec![standard.clone()]);
    let each = ChainSupervision { fsts, alignment_pdfs: vec![3, 4], ..Default::default() };
    bear_damage(&each);
    let indexes = vec![Index { n: 0, t: 3, x: 0 }, Index { n: 1, t: 3, x: 0 }];
    let values = vec![1.0, 2.0];
    let features = GeneralMatrix::Full(Matrix { rows: 2, cols: 1, values });
    let io = NnetIo { name: "io".into(), indexes: indexes.clone(), features };
    bear_damage(&NnetExample { io: vec![io.clone()] });
    let fsts = SupervisionFsts::Whole(standard);
    let supervision = ChainSupervision { fsts, ..ChainSupervision::default() };
    let deriv_weights = Vector(vec![1.0]);
    let output = NnetChainSupervision { name: "out".into(), indexes, supervision, deriv_weights };
    bear_damage(&NnetChainExample { inputs: vec![io], outputs: vec![output] });
}
