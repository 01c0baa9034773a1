//! Taking the time of what is done several times.

use std::hint::black_box;
use std::time::Instant;

/// What each thing is done for, at least.
const SECONDS: f64 = 1.5;

/// Runs something several times: prints the best speed.
pub(crate) fn time<T>(what: &str, bytes: usize, mut run: impl FnMut() -> T) -> T {
    let mut best = f64::INFINITY;
    let mut result = None;
    let begin = Instant::now();
    while result.is_none() || begin.elapsed().as_secs_f64() < SECONDS {
        let start = Instant::now();
        result = Some(black_box(run()));
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("  {what:<34} {:8.0} MB/s", bytes as f64 / best / 1e6);
    result.unwrap()
}
