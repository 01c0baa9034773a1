//! Round numbers along an axis.

/// At most about `most` round numbers inside a range, with their text. The texts have as many
/// decimals as they need.
pub(crate) fn ticks(from: f64, to: f64, most: usize) -> Vec<(f64, String)> {
    let span = to - from;
    if span <= 0.0 || !span.is_finite() {
        return vec![(from, plain(from, 0))];
    }
    let rough = span / most.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
    let step = steps.into_iter().find(|&step| step >= rough * 0.999).unwrap_or(steps[3]);
    let decimals = (-step.log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize;
    let (first, last) = ((from / step - 1e-9).ceil() as i64, (to / step + 1e-9).floor() as i64);
    (first..=last)
        .map(|number| number as f64 * step)
        .map(|tick| (tick, plain(tick, decimals)))
        .collect()
}

fn plain(value: f64, decimals: usize) -> String {
    if value.abs() >= 1e6 || value != 0.0 && value.abs() < 1e-6 {
        return format!("{value:.2e}");
    }
    // No minus before a zero.
    format!("{:.decimals$}", if value == 0.0 { 0.0 } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let texts = |from, to, most| {
            ticks(from, to, most).into_iter().map(|(_, text)| text).collect::<Vec<_>>()
        };
        assert_eq!(texts(0.0, 2.3, 5), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        assert_eq!(texts(0.0, 40.0, 4), ["0", "10", "20", "30", "40"]);
        assert_eq!(texts(-3.2, 17.1, 5), ["0", "5", "10", "15"]);
        assert_eq!(texts(0.1, 0.1, 5), ["0"]);
        assert_eq!(texts(0.0, 0.25, 3), ["0.0", "0.1", "0.2"]);
    }
}
