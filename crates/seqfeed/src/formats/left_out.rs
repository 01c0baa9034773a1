//! Errors for names and keys of formats that the library was built without.

use seqfeed_core::Error;

/// How to recognise the names of a format that can be left out.
struct Optional {
    feature: &'static str,
    /// The name of its files.
    called: &'static str,
    is_built: bool,
    /// Words before a colon.
    words: &'static [&'static str],
    /// Extensions, without the dot.
    ends: &'static [&'static str],
}

/// One line for each cargo feature.
const OPTIONAL: [Optional; 5] = [
    Optional {
        feature: "kaldi",
        called: "Kaldi's tables",
        is_built: cfg!(feature = "kaldi"),
        words: &["ark", "scp", "kaldi"],
        ends: &["ark"],
    },
    Optional {
        feature: "htk",
        called: "HTK's files",
        is_built: cfg!(feature = "htk"),
        words: &["htk", "htk-files"],
        ends: &["htk", "mlf"],
    },
    Optional {
        feature: "cntk",
        called: "CTF files and CNTK's readers",
        is_built: cfg!(feature = "cntk"),
        words: &["ctf"],
        ends: &["ctf", "cntk", "config"],
    },
    Optional {
        feature: "pdnn",
        called: "PDNN's and numpy's files",
        is_built: cfg!(feature = "pdnn"),
        words: &["pfile", "pickle", "npy", "npz", "ali"],
        ends: &["pfile", "pickle", "pkl", "npy", "npz", "ali"],
    },
    Optional {
        feature: "arrow",
        called: "Arrow and Parquet files",
        is_built: cfg!(feature = "arrow"),
        words: &["arrow", "parquet"],
        ends: &["parquet", "arrow", "arrows", "feather", "ipc"],
    },
];

/// The error for a name, if its format was left out.
pub(super) fn name(name: &str) -> Option<Error> {
    let found = OPTIONAL.iter().find(|format| !format.is_built && format.has_name(name))?;
    Some(error(&format!("{} need", found.called), found.feature).in_file(name))
}

/// The error for a key of a format that was left out.
pub(crate) fn key_left_out(key: &str, feature: &str) -> Error {
    error(&format!("the key `{key}` needs"), feature)
}

impl Optional {
    fn has_name(&self, name: &str) -> bool {
        let before = name.split_once(':').map_or("", |(before, _)| before);
        if before.split(',').any(|word| self.words.contains(&word)) {
            return true;
        }
        let file = name.split('#').next().unwrap_or_default().to_ascii_lowercase();
        let packed = [".gz", ".bz2", ".zst"].iter().find_map(|end| file.strip_suffix(end));
        let end = packed.unwrap_or(&file).rsplit_once('.').map_or("", |(_, end)| end);
        self.ends.contains(&end)
    }
}

fn error(what: &str, feature: &str) -> Error {
    Error::usage(format!(
        "{what} the cargo feature `{feature}`, without which this library was built"
    ))
    .with_help(format!("build with it: seqfeed = {{ features = [\"{feature}\"] }}"))
}
