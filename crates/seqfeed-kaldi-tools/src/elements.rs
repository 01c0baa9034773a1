//! Operations on the values, or the rows, of a matrix.

use seqfeed_core::{Error, Result};

/// Exponentials of values.
pub(crate) fn exp(values: &mut [f32]) {
    values.iter_mut().for_each(|value| *value = value.exp());
}

/// Values raised to a power.
///
/// # Errors
///
/// Fails with the power 0.5 if a value is negative.
pub(crate) fn power(values: &mut [f32], power: f32) -> Result<()> {
    if power == 0.5 && values.iter().any(|&value| value < 0.0) {
        return Err(Error::corpus("Cannot take square root of negative value"));
    }
    for value in values {
        *value = match power {
            1.0 => *value,
            2.0 => *value * *value,
            0.5 => value.sqrt(),
            _ => value.powf(power),
        };
    }
    Ok(())
}

/// The softmax of a row.
pub(crate) fn softmax(row: &mut [f32]) {
    let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0f32;
    for value in &mut *row {
        *value = (*value - max).exp();
        sum += *value;
    }
    let scale = (1.0 / f64::from(sum)) as f32;
    row.iter_mut().for_each(|value| *value *= scale);
}

/// The product of two vectors of the same length, summed in 64 bits.
#[must_use]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>() as f32
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let mut values = [1.0, 1.0, 1.0 + 2.0f32.ln()];
        softmax(&mut values);
        assert!((values[0] - 0.25).abs() < 1e-6 && (values[2] - 0.5).abs() < 1e-6);
        let mut values = [4.0, 9.0];
        power(&mut values, 0.5).unwrap();
        assert_eq!(values, [2.0, 3.0]);
        power(&mut values, 3.0).unwrap();
        assert_eq!(values, [8.0, 27.0]);
        assert!(power(&mut [-1.0], 0.5).is_err());
        assert_eq!(dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
    }
}
