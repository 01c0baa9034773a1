//! The files of a data specification of PDNN.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use seqfeed_core::{Element, Error, Result, Series, SeriesKeys, Source, Tolerance};
use seqfeed_io::{Opener, name_from_text};
use seqfeed_kaldi::{Role, TableOptions, TableSource};
use seqfeed_pdnn::ali::AlignmentSource;
use seqfeed_pdnn::pfile::{PFile, PFileSource};
use seqfeed_pdnn::pickle::{PickleSource, PickledData, ReopenedPickle, open_npz};

use crate::data_spec::{DataFormat, DataSpec};
use crate::settle::Rounding;

/// How files are opened.
pub(super) struct FileOptions {
    /// Opens the files. Names are relative to its directory.
    pub(super) opener: Opener,
    pub(super) map: bool,
    pub(super) chunk_samples: u64,
}

/// The files of a specification.
pub(super) struct OpenedData {
    /// Features (with labels in the same files), then labels of their own.
    pub(super) sources: Vec<Arc<dyn Source>>,
    pub(super) warnings: Vec<String>,
    pub(super) rounding: Rounding,
    /// Whether one partition is kept in memory, whatever the specification says.
    pub(super) streams: bool,
}

/// Opens the files of a specification of one task.
pub(super) fn open(spec: &DataSpec, opening: &FileOptions) -> Result<OpenedData> {
    let [pattern] = &spec.names[..] else {
        return Err(Error::usage("a feed has the data of one task"));
    };
    let Some(kind) = DataFormat::of(pattern) else {
        return Err(Error::usage(format!("{pattern} is no file of a kind that PDNN reads"))
            .with_help(
                "names have the extension .pfile, .pickle, .pkl, .npy, .npz or .scp, behind \
                        which .gz or .bz2 may stand",
            ));
    };
    let names = opening.opener.list(&name_from_text(pattern))?;
    for name in &names {
        missing(name, &opening.opener)?;
    }
    let mut warnings = Vec::new();
    if kind == DataFormat::Kaldi && spec.options.stream == Some(false) {
        warnings.push("stream=False has no effect: Kaldi's files are always streamed".to_owned());
    }
    if kind != DataFormat::Kaldi && spec.options.label.is_some() {
        warnings.push("label= has no effect: it is for Kaldi's features (.scp)".to_owned());
    }
    let mut opened = match kind {
        DataFormat::PFile => open_pfiles(&names, &opening.opener)?,
        DataFormat::Pickle => open_pickles(&names, &opening.opener, PickledData::open)?,
        DataFormat::Npz => open_pickles(&names, &opening.opener, open_npz)?,
        DataFormat::Kaldi => open_kaldi(&names, spec.options.label.as_deref(), opening)?,
    };
    opened.warnings.extend(warnings);
    Ok(opened)
}

/// An error for a missing file, with the files that exist instead.
fn missing(name: &OsStr, opener: &Opener) -> Result<()> {
    let location = opener.place(name);
    let Err(error) = opener.probe(&location) else { return Ok(()) };
    Err(match opener.or_compressed(&location) {
        found if found != location => error.with_help(format!("is {found} meant?")),
        _ => error,
    })
}

fn open_pfiles(names: &[OsString], opener: &Opener) -> Result<OpenedData> {
    let mut parts: Vec<Arc<dyn Source>> = Vec::new();
    for name in names {
        // PDNN ignores sentence numbers. Here they must go on by one, from any first number.
        let file = PFile::open(name, opener)?.numbered_as_found()?;
        parts.push(Arc::new(PFileSource::new(file)?));
    }
    Ok(OpenedData {
        sources: vec![one_after_another(parts, SeriesKeys::Numbered)?],
        warnings: Vec::new(),
        rounding: Rounding::To256,
        streams: false,
    })
}

/// A single pickle stays in memory; of several, only the one in use.
fn open_pickles(
    names: &[OsString],
    opener: &Opener,
    open: fn(&OsStr, &Opener) -> Result<PickledData>,
) -> Result<OpenedData> {
    let mut parts: Vec<Arc<dyn Source>> = Vec::new();
    for name in names {
        parts.push(match names.len() {
            1 => {
                let key = seqfeed_core::Key(b"0");
                let shown = opener.place(name).to_string();
                Arc::new(PickleSource::new(&shown, key, open(name, opener)?)?)
            }
            _ => Arc::new(ReopenedPickle::new(name, opener, open)?),
        });
    }
    Ok(OpenedData {
        sources: vec![one_after_another(parts, SeriesKeys::Numbered)?],
        warnings: Vec::new(),
        rounding: Rounding::WholeFile,
        streams: false,
    })
}

fn open_kaldi(
    names: &[OsString],
    label: Option<&str>,
    opening: &FileOptions,
) -> Result<OpenedData> {
    let mut parts: Vec<Arc<dyn Source>> = Vec::new();
    for name in names {
        let options = TableOptions {
            stream: "features".to_owned(),
            role: Role::Features,
            element: Element::F32,
            extent: None,
            chunk_samples: opening.chunk_samples,
            opener: opening.opener.clone(),
            map: opening.map,
            or_compressed: true,
            errors: Tolerance::Stop,
            like: None,
            lengths: None,
        };
        let mut rspecifier = OsString::from("scp:");
        rspecifier.push(name);
        parts.push(Arc::new(TableSource::open(&[rspecifier], &options)?));
    }
    let mut sources = vec![one_after_another(parts, SeriesKeys::Own)?];
    if let Some(label) = label {
        let opener = &opening.opener;
        let label = opener.or_compressed(&opener.place(name_from_text(label))).into_name();
        let opener = opener.clone().in_directory(None);
        sources.push(Arc::new(AlignmentSource::open(&label, "labels", &opener)?));
    }
    // PDNN always streams Kaldi's files.
    let (warnings, rounding, streams) = (Vec::new(), Rounding::None, true);
    Ok(OpenedData { sources, warnings, rounding, streams })
}

fn one_after_another(mut parts: Vec<Arc<dyn Source>>, keys: SeriesKeys) -> Result<Arc<dyn Source>> {
    Ok(match parts.len() {
        1 => parts.remove(0),
        _ => Arc::new(Series::new(parts, keys)?),
    })
}
