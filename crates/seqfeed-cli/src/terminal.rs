//! Properties of standard output: its width, and whether it shows colours and more than ASCII.

use std::io::{self, IsTerminal};

use clap::ValueEnum;

/// When colours and pictures are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Also in a pipe
    Always,
    /// Not at all
    Never,
}

impl Color {
    /// Whether to draw on standard output.
    pub(crate) fn draws(self) -> bool {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stdout().is_terminal() && !plain,
        }
    }
}

/// Columns of the terminal; 100 if there is none.
pub(crate) fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let asked = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    columns.or_else(asked).unwrap_or(100).clamp(40, 1000)
}

/// A bar of a chart, at most `columns` long: eighths of a block on a terminal, else ASCII.
pub(crate) fn bar(share: f64, columns: usize) -> String {
    if !io::stdout().is_terminal() {
        return "#".repeat((share * columns as f64).round() as usize);
    }
    let eighths = (share * columns as f64 * 8.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.push_str(["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]);
    bar
}
