//! Draws a picture with letters. Each letter has two pixels: the upper half block in one colour on
//! another.

use std::fmt::Write as _;

use seqfeed_core::Printable;

use crate::colors::{self, Color};
use crate::heat::{HeatMap, share};
use crate::ticks::ticks;
use crate::{Axis, Content, Group, Panel, Picture};

/// Columns left of the time axis.
const LEFT: usize = 6;
/// The most and the fewest rows of pixels of a heat map.
const ROWS: usize = 64;
const LEAST: usize = 8;
const RESET: &str = "\x1b[0m";

/// The lines of a picture.
pub(crate) fn text(picture: &Picture, columns: usize) -> String {
    let mut out = String::new();
    for group in &picture.groups {
        draw_group(&mut out, group, columns.saturating_sub(LEFT + 1).max(10));
    }
    out
}

fn draw_group(out: &mut String, group: &Group, columns: usize) {
    let _ =
        writeln!(out, "\x1b[1m{}{RESET}  {}", Printable(&group.title), Printable(&group.detail));
    // A waveform is hard to see in so few pixels. Its spectrogram replaces it.
    let panels = group.panels.iter().filter(|panel| !matches!(panel.content, Content::Wave { .. }));
    let panels: Vec<&Panel> = panels.collect();
    // Whole letters for each sample, if there is room.
    let longest = panels.iter().map(|panel| length(panel)).max().unwrap_or(1).max(1);
    let width = if longest >= columns { columns } else { longest * (columns / longest) };
    for panel in &panels {
        match &panel.content {
            Content::Heat { map, axis } => draw_heat(out, map, *axis, width),
            Content::Labels { runs, samples } => {
                let name: String =
                    Printable(&panel.name).to_string().chars().take(LEFT - 1).collect();
                let _ = write!(out, "{name:<LEFT$}");
                let label = |column: usize| {
                    let sample = share(column, width, *samples).start;
                    let at = runs.partition_point(|(run, _)| run.end <= sample);
                    runs.get(at).map_or(0, |(_, label)| *label)
                };
                draw_labels(out, &(0..width).map(label).collect::<Vec<i32>>());
            }
            Content::Wave { .. } => {}
        }
    }
    if let Some(panel) = panels.last() {
        draw_time(out, panel.time, width);
    }
    for panel in &panels {
        if let Content::Heat { map, axis } = &panel.content {
            draw_color_bar(out, map, *axis, &panel.name);
        }
    }
}

fn length(panel: &Panel) -> usize {
    match &panel.content {
        Content::Heat { map, .. } => map.columns(),
        Content::Labels { samples, .. } => *samples,
        Content::Wave { .. } => 0,
    }
}

fn draw_heat(out: &mut String, map: &HeatMap, axis: Axis, width: usize) {
    // Whole rows for each pixel, or whole pixels for each row.
    let rows = map.rows().max(1);
    let pixels = match rows {
        rows if rows < LEAST => rows * LEAST.div_ceil(rows),
        rows => rows.div_ceil(rows.div_ceil(ROWS)),
    };
    let raster = map.raster(width, pixels);
    for upper in (0..pixels).step_by(2) {
        let at_bottom = upper + 2 >= pixels;
        let name = match axis {
            Axis::Bins if upper == 0 => (rows - 1).to_string(),
            Axis::Kilohertz(most) if upper == 0 => format!("{most:.0}k"),
            _ if at_bottom => "0".to_owned(),
            _ => String::new(),
        };
        let _ = write!(out, "{name:>margin$} ", margin = LEFT - 1);
        let row = |y: usize| raster.pixels.get(y * width..(y + 1) * width);
        let mut last: (Option<Color>, Option<Color>) = (None, None);
        for x in 0..width {
            let up = row(upper).map(|row| row[x]);
            let down = row(upper + 1).map(|row| row[x]);
            if up != last.0
                && let Some([r, g, b]) = up
            {
                let _ = write!(out, "\x1b[38;2;{r};{g};{b}m");
            }
            if down != last.1
                && let Some([r, g, b]) = down
            {
                let _ = write!(out, "\x1b[48;2;{r};{g};{b}m");
            }
            last = (up, down);
            out.push('▀');
        }
        let _ = writeln!(out, "{RESET}");
    }
}

/// A line of colours. Runs with enough room show their label.
fn draw_labels(out: &mut String, labels: &[i32]) {
    for run in labels.chunk_by(|a, b| a == b) {
        let [r, g, b] = colors::of_label(run[0]);
        let text = run[0].to_string();
        let text = if text.len() <= run.len() { text } else { String::new() };
        let _ =
            write!(out, "\x1b[38;2;0;0;0m\x1b[48;2;{r};{g};{b}m{text:^width$}", width = run.len());
    }
    let _ = writeln!(out, "{RESET}");
}

fn draw_time(out: &mut String, (from, to): (f64, f64), width: usize) {
    let mut line = vec![' '; width];
    let mut free = 0;
    for (time, text) in ticks(from, to, (width / 12).max(2)) {
        let along = (time - from) / (to - from).max(f64::MIN_POSITIVE);
        let at = (along * width as f64).round() as usize;
        let text = format!("╵{text}s");
        if at >= free && at + text.chars().count() <= width {
            free = at + text.chars().count() + 1;
            line[at..free - 1]
                .iter_mut()
                .zip(text.chars())
                .for_each(|(place, letter)| *place = letter);
        }
    }
    let line: String = line.into_iter().collect();
    let _ = writeln!(out, "{:LEFT$}{}", "", line.trim_end());
}

fn draw_color_bar(out: &mut String, map: &HeatMap, axis: Axis, name: &str) {
    let (low, high) = map.range();
    let (name, unit) = if axis == Axis::Bins { (name, "") } else { ("power", " dB") };
    let _ = write!(out, "{:LEFT$}{} {low:.3}{unit} ", "", Printable(name));
    for step in 0..24 {
        let [r, g, b] = colors::of_value(f64::from(step) / 23.0);
        let _ = write!(out, "\x1b[38;2;{r};{g};{b}m█");
    }
    let _ = writeln!(out, "{RESET} {high:.3}{unit}");
}
