//! How label files are read.

/// How a transcription is read: HTK's configuration variables.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    /// Whether a line that is only a `.` ends the transcription, as in an MLF. HTK sets it for all
    /// label files once an MLF is loaded; else the dot is a label.
    pub dot_ends: bool,
    /// Whether blanks may stand around that dot, and around `///` (`V1COMPAT`).
    pub v1_compat: bool,
    /// What times are multiplied by (`HTKLABELTIMESCALE`).
    pub time_scale: f64,
    /// Whether names lose the context of triphones: all up to the first `-`, and all from the last
    /// `+` on (`STRIPTRIPHONES`).
    pub strip_triphones: bool,
    /// The only level that is kept, from 1 (`TRANSLEV`).
    pub level: Option<usize>,
    /// The only alternative that is kept, from 1 (`TRANSALT`).
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
