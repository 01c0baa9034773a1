//! Options for reading label files.

/// Options for reading a transcription: HTK's configuration variables.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    /// Whether a line with a single `.` ends the transcription, as in an MLF. HTK sets this for all
    /// label files once an MLF is loaded. Otherwise the dot is a label.
    pub dot_ends: bool,
    /// Whether blanks may stand around that dot, and around `///` (`V1COMPAT`).
    pub v1_compat: bool,
    /// The factor for times (`HTKLABELTIMESCALE`).
    pub time_scale: f64,
    /// Whether the context of triphones is removed from names: everything up to the first `-`, and
    /// everything from the last `+` on (`STRIPTRIPHONES`).
    pub strip_triphones: bool,
    /// The only level to keep, from 1 (`TRANSLEV`).
    pub level: Option<usize>,
    /// The only alternative to keep, from 1 (`TRANSALT`).
    pub alternative: Option<usize>,
    /// The number of the first line, for errors.
    pub first_line: u64,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            dot_ends: false,
            v1_compat: false,
            time_scale: 1.0,
            strip_triphones: false,
            level: None,
            alternative: None,
            first_line: 1,
        }
    }
}
