//! Transducers, lattices, and examples for networks: files that Kaldi wrote, and damaged ones.

use std::fs;

use proptest::prelude::*;
use seqfeed_kaldi::{
    AnyObject, ChainSupervision, CompactLattice, CompactLatticeWeight, FstArc, FstState, FstWeight,
    GeneralMatrix, Index, Lattice, LatticeWeight, Matrix, Mode, NnetChainExample,
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
    // From text to binary, with the property bits that Kaldi's way of reading text gives.
    for (from, to) in [
        ("fst.txt.ark", "fst.bin.ark"),
        ("lat.txt.ark", "lat.bin.ark"),
        ("clat.txt.ark", "clat.bin.ark"),
    ] {
        let written = match from {
            "fst.txt.ark" => rewritten::<StdVectorFst>(&read(from), Mode::Binary).0,
            "lat.txt.ark" => rewritten::<Lattice>(&read(from), Mode::Binary).0,
            _ => rewritten::<CompactLattice>(&read(from), Mode::Binary).0,
        };
        // Weights have six digits in text: only what stands before them must be the same.
        assert_eq!(written.len(), read(to).len(), "{from}");
        assert_eq!(written[..64], read(to)[..64], "{from}");
    }
    // The one kind from the other.
    let (written, _) = rewritten::<Lattice>(&read("clat.bin.ark"), Mode::Text);
    assert_eq!(written, read("clat_as_lat.txt"));
    let (written, _) = rewritten::<CompactLattice>(&read("lat.bin.ark"), Mode::Text);
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
    // States that nothing names in text are lost, so all are final; the last decides how many.
    for (number, state) in fst.states.iter_mut().enumerate() {
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

fn all_modes<T: seqfeed_kaldi::Holder + PartialEq + std::fmt::Debug>(value: &T) {
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
        let mut fst = fst(&arcs, |a, _| TropicalWeight(f32::from(a) / 4.0), true);
        fst.properties = Some(1);
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
    let chain = NnetChainExample { inputs: vec![], outputs: vec![output] };
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
