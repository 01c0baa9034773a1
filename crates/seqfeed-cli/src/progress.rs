//! Progress, shown on a terminal.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar for `total` things of a kind. It is hidden if standard error is not a terminal.
pub(crate) fn bar(total: u64, what: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), target());
    let template = format!(
        "{{bar:40}} {{percent:>3}}% {{human_pos}}/{{human_len}} {what}, {{per_sec}}, {{eta}} left"
    );
    styled(bar, &template)
}

/// A count of things of a kind, if their total is not known.
pub(crate) fn spinner(what: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, target());
    styled(bar, &format!("{{spinner}} {{human_pos}} {what} {{elapsed}}"))
}

fn target() -> ProgressDrawTarget {
    match io::stderr().is_terminal() {
        true => ProgressDrawTarget::stderr_with_hz(10),
        false => ProgressDrawTarget::hidden(),
    }
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
