//! Logarithms of values.

use crate::Float;

/// The smallest value whose logarithm Kaldi's tools take.
pub const FLOOR: f32 = 1e-20;

/// Natural logarithms of values. Values below `floor` are raised to it.
pub fn log<T: Float>(values: &mut [T], floor: T) {
    // Not `max`, which would give the floor for NaN.
    let floored = |value: T| if value < floor { floor } else { value };
    values.iter_mut().for_each(|value| *value = floored(*value).ln());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_below_the_floor_are_raised() {
        let mut values = [0.0, 1.0, -1.0, f32::NAN];
        log(&mut values, FLOOR);
        assert_eq!(values[..3], [FLOOR.ln(), 0.0, FLOOR.ln()]);
        assert!(values[3].is_nan());
    }
}
