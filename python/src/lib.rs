//! The Python package's compiled part: `seqfeed._seqfeed`.
//!
//! All long waits, reads and copies run detached from the interpreter. Locks are taken only while
//! detached, so that a thread that waits for one never holds the interpreter.

// Docstrings are Python's Markdown, not rustdoc's.
#![allow(clippy::doc_markdown)]

mod conversion;
mod convert;
mod describe;
mod errors;
mod feed;
mod forks;
mod interrupt;
mod kaldi;
mod keys;
mod minibatch;
mod samples;
mod table;
mod values;
mod writer;

use pyo3::prelude::*;
use pyo3::types::PyType;

/// Appends a list of all options to the documentation of a class.
fn documented(class: &Bound<'_, PyType>) -> PyResult<()> {
    let mut doc = class.getattr("__doc__")?.extract::<String>()?;
    doc += "\n\nOptions, as keywords:\n";
    for option in seqfeed::options() {
        let text: Vec<&str> = option.doc.split_whitespace().collect();
        doc += &format!("\n{}\n    {}", option.name.replace('-', "_"), text.join(" "));
        if !option.default.is_empty() {
            doc += &format!(" Default: {}.", option.default);
        }
    }
    class.setattr("__doc__", doc)
}

#[pymodule]
mod _seqfeed {
    #[pymodule_export]
    use super::convert::convert;
    #[pymodule_export]
    use super::feed::Feed;
    #[pymodule_export]
    use super::kaldi::names::{
        parse_rspecifier, parse_rxfilename, parse_wspecifier, parse_wxfilename,
    };
    #[pymodule_export]
    use super::kaldi::object::{KaldiObject, object_types};
    #[pymodule_export]
    use super::kaldi::object_reader::PyObjectReader;
    #[pymodule_export]
    use super::kaldi::object_writer::PyObjectWriter;
    #[pymodule_export]
    use super::kaldi::random_access::RandomAccessReader;
    #[pymodule_export]
    use super::kaldi::sequential::SequentialReader;
    #[pymodule_export]
    use super::kaldi::single::{load, save};
    #[pymodule_export]
    use super::kaldi::writer::Writer;
    #[pymodule_export]
    use super::minibatch::Minibatch;
    #[pymodule_export]
    use super::table::{Table, TableIterator};
    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        seqfeed::io::on_interrupt(super::interrupt::ask);
        seqfeed_core::panics::silence_caught_panics();
        // The package has two classes of this name. The one for Kaldi's tables is in its own
        // module.
        super::documented(&module.py().get_type::<Feed>())?;
        module.add("CorpusWriter", module.py().get_type::<super::writer::Writer>())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
