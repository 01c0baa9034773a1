//! Audio as power over time and frequency.

use std::f64::consts::TAU;

use realfft::RealFftPlanner;

use crate::heat::HeatMap;

/// The length of a window in seconds, and the distance between windows.
const WINDOW: f64 = 0.025;
const SHIFT: f64 = 0.005;
/// The lowest colour, in dB below the strongest power.
const DEPTH: f64 = 80.0;
/// The most windows: more would not be visible.
const COLUMNS: usize = 3000;

/// The power of audio in dB below its maximum, as columns of frequencies from 0 to half the rate.
/// Windows of 25 ms (Hann) come every 5 ms, or less often if there would be very many.
pub(crate) fn spectrogram(samples: &[f32], rate: f64) -> HeatMap {
    let window = ((rate * WINDOW) as usize).clamp(16, 1 << 16);
    let length = window.next_power_of_two();
    let most = samples.len() as f64 / COLUMNS as f64;
    let shift = (rate * SHIFT).max(most).max(1.0);
    let columns = ((samples.len() as f64 / shift) as usize).max(1);
    let hann: Vec<f32> = (0..window)
        .map(|i| (0.5 - 0.5 * (TAU * (i as f64 + 0.5) / window as f64).cos()) as f32)
        .collect();
    let transform = RealFftPlanner::<f32>::new().plan_fft_forward(length);
    let (mut input, mut output) = (transform.make_input_vec(), transform.make_output_vec());
    let mut powers = Vec::with_capacity(columns * output.len());
    for column in 0..columns {
        let middle = ((column as f64 + 0.5) * shift) as usize;
        let sample = |i: usize| (middle + i).checked_sub(window / 2).and_then(|at| samples.get(at));
        input.fill(0.0);
        for (i, (out, hann)) in input.iter_mut().zip(&hann).enumerate() {
            let value = sample(i).copied().unwrap_or(0.0);
            *out = if value.is_finite() { value * hann } else { 0.0 };
        }
        // The lengths come from the transform itself.
        let _ = transform.process(&mut input, &mut output);
        powers.extend(output.iter().map(|value| 10.0 * value.norm_sqr().max(1e-20).log10()));
    }
    let strongest = powers.iter().copied().fold(f32::MIN, f32::max);
    powers.iter_mut().for_each(|power| *power -= strongest);
    HeatMap::new(output.len(), powers).with_range((-DEPTH, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tone_is_a_line_at_its_frequency() {
        let tone: Vec<f32> =
            (0..16_000).map(|i| (TAU * 2000.0 * f64::from(i) / 16_000.0).sin() as f32).collect();
        let map = spectrogram(&tone, 16_000.0);
        assert_eq!((map.columns(), map.rows()), (200, 257));
        // 2 kHz of 8 is a quarter up; everything else is dark.
        let raster = map.raster(200, 257);
        let row = |bin: usize| raster.pixels[(256 - bin) * 200 + 100];
        assert!(row(64)[0] > 200 && row(64)[1] > 200, "{:?}", row(64));
        assert!(row(150)[1] < 40 && row(5)[1] < 40, "{:?} {:?}", row(150), row(5));
    }
}
