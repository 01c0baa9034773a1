//! The types in which streams are delivered.

use std::sync::Arc;

use bytemuck::cast_slice_mut;
use half::slice::HalfFloatSliceExt;
use seqfeed_core::{
    Block, Element, Error, Given, Kind, Output, Result, Source, Stream, Transform, Transformed,
    bf16, f16, numbers,
};

use crate::settings::StreamType;

/// The source with the requested types.
///
/// # Errors
///
/// Fails if there is no such stream, or if its values cannot have such a type.
pub(crate) fn with_types(
    mut source: Arc<dyn Source>,
    types: &[StreamType],
) -> Result<Arc<dyn Source>> {
    for StreamType { stream: name, element } in types {
        let Some(stream) = source.streams().iter().find(|stream| stream.name == *name) else {
            let names: Vec<&str> = source.streams().iter().map(|s| s.name.as_str()).collect();
            let (element, names) = (element.name(), names.join(", "));
            return Err(Error::usage(format!(
                "dtype {element} is requested for stream {name}, but the streams are {names}"
            )));
        };
        if stream.element != *element {
            check(stream, *element)?;
            let cast = Cast { stream: name.clone(), element: *element };
            source = Arc::new(Transformed::new(source, Arc::new(cast))?);
        }
    }
    Ok(source)
}

fn check(stream: &Stream, element: Element) -> Result<()> {
    use Element::{BF16, F16, F32, F64, I32, I64};
    let possible = match (stream.kind, stream.element) {
        (Kind::Dense, F32 | F64) => matches!(element, F16 | BF16),
        (Kind::Label, I32) => element == I64,
        _ => false,
    };
    if possible {
        return Ok(());
    }
    let (name, element) = (&stream.name, element.name());
    let help = match stream.kind {
        Kind::Dense => "vectors of real values come as float16 or bfloat16 too",
        Kind::Label => "labels come as int32 or int64",
        _ => "sparse values keep the type of their source",
    };
    Err(Error::usage(format!("stream {name} cannot be delivered as {element}")).with_help(help))
}

/// Gives the values of a stream another type.
struct Cast {
    /// The name of the stream.
    stream: String,
    element: Element,
}

impl Transform for Cast {
    fn name(&self) -> &str {
        "dtype"
    }

    fn outputs(&self, streams: &[Stream]) -> Result<Vec<Output>> {
        let cast = |stream| Stream { element: self.element, ..stream };
        Ok(Output::change(streams, |stream| stream.name == self.stream, cast))
    }

    fn apply(&self, _output: usize, given: &Given<'_>, to: &mut Block) -> Result<()> {
        let (samples, from) = (given.samples(0), given.stream(0).element);
        let (bytes, out) = (samples.bytes(), to.push_bytes(samples.len()));
        match (from, self.element) {
            (Element::F64, Element::F16) => {
                cast_slice_mut::<u8, f16>(out).convert_from_f64_slice(&numbers::<f64>(bytes));
            }
            (Element::F64, _) => {
                cast_slice_mut::<u8, bf16>(out).convert_from_f64_slice(&numbers::<f64>(bytes));
            }
            (Element::F32, Element::F16) => {
                cast_slice_mut::<u8, f16>(out).convert_from_f32_slice(&numbers::<f32>(bytes));
            }
            (Element::F32, _) => {
                cast_slice_mut::<u8, bf16>(out).convert_from_f32_slice(&numbers::<f32>(bytes));
            }
            _ => {
                let labels = numbers::<i32>(bytes);
                for (wide, &label) in cast_slice_mut::<u8, i64>(out).iter_mut().zip(&*labels) {
                    *wide = label.into();
                }
            }
        }
        Ok(())
    }
}
