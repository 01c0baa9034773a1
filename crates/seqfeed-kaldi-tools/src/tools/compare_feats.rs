//! `compare-feats`.

use seqfeed_kaldi::Matrix;

use crate::call::{Call, Outcome};
use crate::elements::dot;
use crate::number::G;
use crate::options::opt;

const USAGE: &str = "Says how similar two tables of features are: for each dimension, and on average, 1 if they are the same\n\
and less otherwise. Ends with 0 if the average is at least the threshold.\n\
Usage: compare-feats [options] <in-rspecifier1> <in-rspecifier2>\n\
e.g.: compare-feats ark:1.ark ark:2.ark\n";

const PLACE: &str = "main():featbin/compare-feats.cc";

/// The similarity of a dimension is twice the sum of the products of both features, divided by the
/// sum of the squares of both.
pub(super) fn run(call: &mut Call<'_>) -> Outcome {
    let mut threshold = 0.99f32;
    let names = call.parse(
        USAGE,
        2..=2,
        &mut [opt("threshold", &mut threshold, "Similarity from which on the exit code is 0")],
    )?;
    let mut first = call.table::<Matrix<f32>>(&names[0])?;
    let mut second = call.random::<Matrix<f32>>(&names[1])?;
    let (mut done, mut failed) = (0u64, 0u64);
    let (mut squares1, mut squares2, mut products) = (vec![], vec![], vec![]);
    while let Some((key, a)) = first.next()? {
        let Some(b) = second.get(key)? else {
            call.warn(PLACE, format_args!("Second table has no feature for utterance {key}"));
            failed += 1;
            continue;
        };
        if a.cols != b.cols || (done > 0 && a.cols != products.len()) {
            let other = if a.cols == b.cols { products.len() } else { b.cols };
            let message = format!(
                "Feature dimensions differ for utterance {key}, {} vs. {other}, skipping  utterance.{key}",
                a.cols
            );
            call.warn(PLACE, message);
            failed += 1;
            continue;
        }
        if a.rows != b.rows {
            let message = format!(
                "Feature lengths differ for utterance {key}, {} vs. {}, skipping  utterance.{key}",
                a.rows, b.rows
            );
            call.warn(PLACE, message);
            failed += 1;
            continue;
        }
        if done == 0 {
            for sum in [&mut squares1, &mut squares2, &mut products] {
                sum.resize(a.cols, 0.0f64);
            }
        }
        let column = |matrix: &Matrix<f32>, column: usize| -> Vec<f32> {
            matrix.values.iter().copied().skip(column).step_by(matrix.cols).collect()
        };
        for dim in 0..a.cols {
            let (a, b) = (column(a, dim), column(b, dim));
            squares1[dim] += f64::from(dot(&a, &a));
            squares2[dim] += f64::from(dot(&b, &b));
            products[dim] += f64::from(dot(&a, &b));
        }
        done += 1;
    }
    first.close()?;
    let similarity: Vec<f64> = products
        .iter()
        .zip(squares1.iter().zip(&squares2))
        .map(|(product, (a, b))| 2.0 * product / (a + b))
        .collect();
    let overall = similarity.iter().sum::<f64>() / similarity.len() as f64;
    let remark = "(1.0 means identical, the smaller the more different)";
    let vector = |what: &str, values: &[f64], remark: &str| {
        let values: String = values.iter().map(|value| format!("{} ", G(*value))).collect();
        format!("{what} [ {values}]\n{remark}")
    };
    let each = "for each column dimension: ";
    call.log(PLACE, vector(&format!("self-product of 1st features {each}"), &squares1, ""));
    call.log(PLACE, vector(&format!("self-product of 2nd features {each}"), &squares2, ""));
    call.log(PLACE, vector(&format!("cross-product {each}"), &products, ""));
    let text = vector("Similarity metric for each dimension ", &similarity, &format!(" {remark}"));
    call.log(PLACE, text);
    call.log(
        PLACE,
        format_args!("Overall similarity for the two feats is:{} {remark}", G(overall)),
    );
    call.log(PLACE, format_args!("Processed {done} feature files, {failed} had errors."));
    let similar = overall >= f64::from(threshold);
    if done > 0 {
        let (what, sign) = if similar { ("similar", ">=") } else { ("dissimilar", "<") };
        let (overall, threshold) = (G(overall), G(f64::from(threshold)));
        call.log(
            PLACE,
            format_args!("Features are considered {what} since {overall} {sign} {threshold}"),
        );
    }
    Ok(u8::from(!(done > 0 && similar)))
}
