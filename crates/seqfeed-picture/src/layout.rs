//! Places all parts of a picture.

use crate::colors::{self, FAINT, FRAME, TEXT, WAVE};
use crate::heat::{HeatMap, Raster, share};
use crate::pixels::SCALE;
use crate::scene::{Anchor, Rectangle, Scene};
use crate::ticks::ticks;
use crate::{Axis, Content, Group, Panel, Picture};

const WIDTH: f64 = 960.0;
/// The margins left and right of the time axis.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 96.0;
const PLOT: f64 = WIDTH - LEFT - RIGHT;
/// The heights of a title and of a time axis, and the distance between panels.
const TITLE: f64 = 44.0;
const TIME: f64 = 46.0;
const GAP: f64 = 10.0;
const TICK: f64 = 5.0;
/// The approximate width of a letter of small text.
const LETTER: f64 = 7.2;

/// Draws a picture.
pub(crate) fn scene(picture: &Picture) -> Scene {
    let mut scene = Scene { width: WIDTH, ..Scene::default() };
    let mut y = 0.0;
    for group in &picture.groups {
        y = draw_group(&mut scene, group, y);
    }
    scene.height = y;
    scene
}

fn draw_group(scene: &mut Scene, group: &Group, top: f64) -> f64 {
    scene.title(LEFT, top + TITLE / 2.0 + 2.0, TEXT, cut(&group.title, 40));
    let detail = cut(&group.detail, 70);
    scene.text((LEFT + PLOT, top + TITLE / 2.0 + 3.0), Anchor::End, FAINT, detail);
    let mut y = top + TITLE;
    for (number, panel) in group.panels.iter().enumerate() {
        let at = Rectangle { x: LEFT, y, width: PLOT, height: height(panel) };
        draw_panel(scene, panel, at);
        y += at.height;
        // Panels with the same time share one axis.
        let next = group.panels.get(number + 1);
        if next.is_some_and(|next| same_time(panel, next)) {
            y += GAP;
        } else {
            draw_time(scene, panel, y);
            y += TIME;
        }
    }
    y
}

/// The beginning of a long text, with a mark for the rest.
fn cut(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 3).chain("...".chars()).collect(),
        false => text.to_owned(),
    }
}

fn same_time(one: &Panel, other: &Panel) -> bool {
    // Windows at the ends of audio make features a little shorter.
    let near = |a: f64, b: f64| (a - b).abs() <= 0.01 * (one.time.1 - one.time.0).abs();
    near(one.time.0, other.time.0) && near(one.time.1, other.time.1)
}

fn height(panel: &Panel) -> f64 {
    match &panel.content {
        Content::Heat { map, axis: Axis::Bins } => (map.rows() as f64 * 7.0).clamp(90.0, 360.0),
        Content::Heat { .. } => 260.0,
        Content::Wave { .. } => 90.0,
        Content::Labels { .. } => 26.0,
    }
}

fn draw_panel(scene: &mut Scene, panel: &Panel, at: Rectangle) {
    let middle = at.y + at.height / 2.0;
    match &panel.content {
        Content::Heat { map, axis } => {
            let most = |cells: usize, length: f64| cells.min((length * SCALE) as usize).max(1);
            let raster = map.raster(most(map.columns(), at.width), most(map.rows(), at.height));
            scene.image(at, raster);
            draw_bins(scene, map, *axis, at);
            draw_color_bar(scene, map, *axis, at);
            scene.upwards(16.0, middle, FAINT, &panel.name);
        }
        Content::Wave { samples, most } => {
            draw_wave(scene, samples, *most, at);
            for (value, text) in [(1.0, *most), (0.0, 0.0), (-1.0, -*most)] {
                let y = middle - value * (at.height / 2.0 - 6.0);
                scene.text((at.x - TICK - 4.0, y), Anchor::End, FAINT, short(text.into()));
            }
            scene.upwards(16.0, middle, FAINT, &panel.name);
        }
        Content::Labels { runs, samples } => {
            let x = |sample: usize| at.x + at.width * sample as f64 / (*samples).max(1) as f64;
            for (run, label) in runs {
                let (left, right) = (x(run.start), x(run.end));
                let place = Rectangle { x: left, width: right - left, ..at };
                scene.rectangle(place, colors::of_label(*label));
                let text = label.to_string();
                if text.len() as f64 * LETTER + 4.0 <= right - left {
                    scene.text(((left + right) / 2.0, middle), Anchor::Middle, TEXT, text);
                }
            }
            scene.text((at.x - TICK - 4.0, middle), Anchor::End, FAINT, cut(&panel.name, 7));
        }
    }
    scene.outline(at, FRAME);
}

fn draw_bins(scene: &mut Scene, map: &HeatMap, axis: Axis, at: Rectangle) {
    let bottom = at.y + at.height;
    let places: Vec<(f64, String)> = match axis {
        Axis::Kilohertz(most) => {
            let place = |(kilohertz, text)| (bottom - kilohertz / most * at.height, text);
            ticks(0.0, most, 6).into_iter().map(place).collect()
        }
        Axis::Bins => {
            let rows = map.rows() as f64;
            let most = ((at.height / 30.0) as usize).max(1);
            // A number stands at the middle of its row. There are no rows in between.
            let whole = ticks(0.0, rows - 1.0, most).into_iter();
            let whole = whole.filter(|(bin, _)| bin.fract() == 0.0);
            let place = |(bin, _)| (bottom - (bin + 0.5) / rows * at.height, format!("{bin:.0}"));
            whole.map(place).collect()
        }
    };
    for (y, text) in places {
        scene.rectangle(Rectangle { x: at.x - TICK, y: y - 0.5, width: TICK, height: 1.0 }, FRAME);
        scene.text((at.x - TICK - 4.0, y), Anchor::End, FAINT, text);
    }
}

fn draw_color_bar(scene: &mut Scene, map: &HeatMap, axis: Axis, at: Rectangle) {
    let bar = Rectangle { x: at.x + at.width + 16.0, width: 12.0, ..at };
    let pixels = (0..256).rev().map(|step| colors::of_value(f64::from(step) / 255.0)).collect();
    scene.image(bar, Raster { width: 1, height: 256, pixels });
    scene.outline(bar, FRAME);
    let (low, high) = map.range();
    let unit = if axis == Axis::Bins { "" } else { " dB" };
    for (value, text) in ticks(low, high, ((at.height / 45.0) as usize).max(2)) {
        let along = if high > low { (value - low) / (high - low) } else { 0.5 };
        let y = bar.y + bar.height * (1.0 - along);
        let tick = Rectangle { x: bar.x + bar.width, y: y - 0.5, width: TICK, height: 1.0 };
        scene.rectangle(tick, FRAME);
        scene.text((bar.x + bar.width + TICK + 4.0, y), Anchor::Start, FAINT, text + unit);
    }
}

/// Draws the range from the smallest to the largest sample of each column.
fn draw_wave(scene: &mut Scene, samples: &[f32], most: f32, at: Rectangle) {
    let (middle, half) = (at.y + at.height / 2.0, at.height / 2.0 - 6.0);
    let columns = (at.width * SCALE) as usize;
    let y = |value: f32| {
        middle - half * f64::from(value / most.max(f32::MIN_POSITIVE)).clamp(-1.0, 1.0)
    };
    for column in 0..columns {
        let part = samples[share(column, columns, samples.len())].iter().copied();
        let (low, high) = part
            .filter(|value| value.is_finite())
            .fold((0f32, 0f32), |(low, high), value| (low.min(value), high.max(value)));
        let (top, bottom) = (y(high), y(low));
        let x = at.x + column as f64 / SCALE;
        let height = (bottom - top).max(0.5);
        scene.rectangle(Rectangle { x, y: top, width: 1.0 / SCALE, height }, WAVE);
    }
}

fn draw_time(scene: &mut Scene, panel: &Panel, y: f64) {
    let (from, to) = panel.time;
    for (time, text) in ticks(from, to, 10) {
        let x = LEFT + PLOT * (time - from) / (to - from).max(f64::MIN_POSITIVE);
        scene.rectangle(Rectangle { x: x - 0.5, y, width: 1.0, height: TICK }, FRAME);
        scene.text((x, y + TICK + 9.0), Anchor::Middle, FAINT, text);
    }
    scene.text((LEFT + PLOT / 2.0, y + TICK + 25.0), Anchor::Middle, FAINT, "time (s)");
}

fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.1}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.2}"),
    }
}
