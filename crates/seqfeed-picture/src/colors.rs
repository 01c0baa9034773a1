//! Colours of values, of labels, and of everything else.

/// Red, green, blue.
pub(crate) type Color = [u8; 3];

pub(crate) const BACKGROUND: Color = [255, 255, 255];
pub(crate) const TEXT: Color = [32, 33, 36];
pub(crate) const FAINT: Color = [95, 99, 104];
pub(crate) const FRAME: Color = [154, 160, 166];
pub(crate) const WAVE: Color = [49, 104, 142];
/// The colour of NaN. It is in no colour map, so it stands out.
pub(crate) const NOT_A_NUMBER: Color = [234, 51, 35];

/// The colour of a value between 0 and 1, by viridis: its steps look equal on the screen and in
/// print.
pub(crate) fn of_value(value: f64) -> Color {
    let color = colorous::VIRIDIS.eval_continuous(value.clamp(0.0, 1.0));
    [color.r, color.g, color.b]
}

/// The colour of a label. Labels with neighbouring numbers are far apart in hue.
pub(crate) fn of_label(label: i32) -> Color {
    // Steps of the golden ratio around the circle never come close to earlier hues.
    let hue = (f64::from(label) * 0.618_033_988_749_895).rem_euclid(1.0);
    let color = colorous::RAINBOW.eval_continuous(hue);
    // Paler, so that black text is readable on it.
    [color.r, color.g, color.b].map(|part| (f64::from(part) * 0.55 + 255.0 * 0.45) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_grow_lighter() {
        let light = |color: Color| {
            2126 * u32::from(color[0]) + 7152 * u32::from(color[1]) + 722 * u32::from(color[2])
        };
        let steps: Vec<u32> =
            (0..=100).map(|step| light(of_value(f64::from(step) / 100.0))).collect();
        assert!(steps.is_sorted(), "{steps:?}");
        assert_eq!((of_value(-1.0), of_value(2.0)), (of_value(0.0), of_value(1.0)));
    }

    #[test]
    fn neighbouring_labels_differ() {
        for label in -5..200 {
            let (here, next) = (of_label(label), of_label(label + 1));
            let apart: u32 = here.iter().zip(next).map(|(a, b)| u32::from(a.abs_diff(b))).sum();
            assert!(apart > 60, "{label}: {here:?} {next:?}");
        }
    }
}
