//! The transforms: one line of the table each. Those that read files or data also have a file here.

#[cfg(feature = "kaldi")]
mod affine;
#[cfg(feature = "kaldi")]
mod by_key;
#[cfg(feature = "kaldi")]
mod cmvn;
mod noise;
mod one_stream;
#[cfg(feature = "kaldi")]
mod statistics_file;

use std::sync::{Arc, PoisonError, RwLock};

use seqfeed_core::{Error, Result, Source, Transform, Transformed, nearest_name};
use seqfeed_io::Opener;
use seqfeed_transform::{
    Clip, Deltas, Dither, Log, OneHot, Scale, Select, ShiftDeltas, ShuffleBins, SlidingCmvn,
    SpecAugment, Splice, Stack, Subsample, TimeCrop,
};
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use self::one_stream::OneStream;

/// A transform in a description: its name and its options.
///
/// ```
/// use seqfeed::TransformSpec;
///
/// let spec = TransformSpec::parse("subsample,n=3,offset=1")?;
/// assert_eq!((spec.name.as_str(), spec.options.len()), ("subsample", 2));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransformSpec {
    /// Its name.
    pub name: String,
    /// Its options.
    pub options: Table,
}

impl TransformSpec {
    /// Parses a name with options behind commas: `subsample,n=3`. A part without `=` belongs to the
    /// value before it (`select,dims=0-12,15`). A value that TOML cannot parse is text.
    ///
    /// # Errors
    ///
    /// The error says what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = || "a transform with its options, such as `subsample,n=3`".to_owned();
        let (name, rest) = text.split_once(',').unwrap_or((text, ""));
        let mut given: Vec<(&str, String)> = Vec::new();
        for part in rest.split(',').map(str::trim).filter(|_| !rest.is_empty()) {
            match (part.split_once('='), given.last_mut()) {
                (Some((key, value)), _) => given.push((key.trim(), value.trim().to_owned())),
                (None, Some((_, before))) => *before += &format!(",{part}"),
                (None, None) => return Err(expected()),
            }
        }
        for (number, (key, _)) in given.iter().enumerate() {
            if given[..number].iter().any(|(other, _)| other == key) {
                return Err(format!("each option once (`{key}` stands there twice)"));
            }
        }
        let options = given.into_iter().map(|(key, text)| {
            let value = format!("value = {text}").parse::<Table>().ok();
            let value = value.and_then(|mut table| table.remove("value"));
            (key.to_owned(), value.unwrap_or(Value::String(text)))
        });
        match name.trim() {
            "" => Err(expected()),
            name => Ok(Self { name: name.to_owned(), options: options.collect() }),
        }
    }

    /// The options as a struct. Its fields have the names of the options.
    ///
    /// # Errors
    ///
    /// Fails if an option is missing or has an invalid value. Also fails if an option is unknown,
    /// if the struct denies unknown fields.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        let read = |options: Table| -> Result<T, String> {
            options.try_into().map_err(|error: toml::de::Error| error.message().to_owned())
        };
        read(self.options.clone()).map_err(|said| {
            // Without the wrong option something else is said, or nothing.
            let is_wrong = |name: &&String| {
                let mut others = self.options.clone();
                others.remove(*name);
                read(others).err().as_ref() != Some(&said)
            };
            let of_value = ["invalid type", "invalid value", "unknown variant"];
            let of_value = of_value.iter().any(|begin| said.starts_with(begin));
            match said.split_once(", expected ").filter(|_| of_value) {
                Some((_, expected)) => {
                    self.wrong_value(self.options.keys().find(is_wrong), expected)
                }
                None => self.wrong(&said),
            }
        })
    }

    /// A value of an option that is something else than expected.
    fn wrong_value(&self, option: Option<&String>, expected: &str) -> Error {
        let expected = match expected {
            "u32" => "a whole number from 0, below 2^32",
            "u64" | "usize" => "a whole number from 0",
            "i32" | "i64" | "isize" => "a whole number",
            "f32" | "f64" => "a number",
            "a boolean" => "true or false",
            "a string" | "string only" => "a text",
            "a sequence" => "a list",
            "an array of length 2" => "a list of two numbers",
            others => others,
        };
        let given = option.and_then(|name| self.options.get(name).map(|value| (name, value)));
        let what = given.map(|(name, value)| format!("{name} = {value}, but it"));
        let what = what.unwrap_or_else(|| "a value".to_owned());
        Error::usage(format!("transform {}: {what} must be {expected}", self.name))
    }

    /// What serde says, in the words of this library.
    fn wrong(&self, said: &str) -> Error {
        let error = |what: &str| Error::usage(format!("transform {}: {what}", self.name));
        if let Some(option) = said.strip_prefix("missing field ") {
            return error(&format!("there is no {option}")).with_help(format!("give {option}"));
        }
        let Some(rest) = said.strip_prefix("unknown field ") else { return error(said) };
        // The names stand between backticks: first the unknown one, then those that are known.
        let mut names = rest.split('`').skip(1).step_by(2);
        let unknown = names.next().unwrap_or_default();
        let known: Vec<&str> = names.collect();
        let error = error(&format!("there is no option `{unknown}`"));
        error.with_help(match (nearest_name(unknown, known.iter().copied()), &known[..]) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => "it has no options".to_owned(),
            (None, known) => format!("its options are {}", known.join(", ")),
        })
    }
}

/// What a transform is made for, beside its options.
pub struct TransformContext<'a> {
    /// Opens files that the options name.
    pub opener: &'a Opener,
    /// The source that the transform is applied to, for what is computed from its data. Its data
    /// are read at first use, not while the transform is made.
    pub source: &'a Arc<dyn Source>,
    /// The only stream of the source that the transform is applied to, by its number. `None` for
    /// all streams.
    pub stream: Option<usize>,
    /// Opens another corpus by its name.
    pub open_corpus: OpenCorpus,
}

/// Opens a corpus by its name. The opener is that of the name.
pub type OpenCorpus = fn(&str, &Opener) -> Result<Arc<dyn Source>>;

/// Makes a transform from its options.
pub type MakeTransform = fn(&TransformSpec, &TransformContext<'_>) -> Result<Arc<dyn Transform>>;

/// The transforms of the library.
const BUILT_IN: &[(&str, MakeTransform)] = &[
    ("clip", plain::<Clip>),
    #[cfg(feature = "kaldi")]
    ("cmvn", cmvn::make),
    ("deltas", plain::<Deltas>),
    ("dither", plain::<Dither>),
    ("log", plain::<Log>),
    ("noise", noise::make),
    ("one-hot", plain::<OneHot>),
    ("scale", plain::<Scale>),
    ("select", plain::<Select>),
    ("shift-deltas", plain::<ShiftDeltas>),
    ("shuffle-bins", plain::<ShuffleBins>),
    ("sliding-cmvn", plain::<SlidingCmvn>),
    ("spec-augment", plain::<SpecAugment>),
    ("splice", plain::<Splice>),
    ("stack", plain::<Stack>),
    ("subsample", plain::<Subsample>),
    ("time-crop", of_all_streams::<TimeCrop>),
    #[cfg(feature = "kaldi")]
    ("transform", affine::make),
];

/// The options of transforms that name files, tables or corpora.
pub(crate) const FILES: [&str; 4] = ["stats", "matrix", "utt2spk", "corpus"];

/// Makes a transform that needs nothing but its options.
fn plain<T: Transform + DeserializeOwned + 'static>(
    spec: &TransformSpec,
    _context: &TransformContext<'_>,
) -> Result<Arc<dyn Transform>> {
    Ok(Arc::new(spec.read::<T>()?))
}

/// Makes a transform that must not be applied to one stream, since the others would differ.
fn of_all_streams<T: Transform + DeserializeOwned + 'static>(
    spec: &TransformSpec,
    context: &TransformContext<'_>,
) -> Result<Arc<dyn Transform>> {
    if context.stream.is_none() {
        return plain::<T>(spec, context);
    }
    let what = format!("transform {} is for all streams of a corpus together", spec.name);
    Err(Error::usage(what).with_help("give it under the key `transforms` at the top"))
}

/// The registered transforms.
static REGISTERED: RwLock<Vec<(&'static str, MakeTransform)>> = RwLock::new(Vec::new());

/// Registers a transform under a name, for the keys `transforms` of descriptions and for the
/// options of the command line and of Python.
///
/// # Errors
///
/// Fails if the name is taken.
pub fn register_transform(name: &'static str, make: MakeTransform) -> Result<()> {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    if BUILT_IN.iter().chain(registered.iter()).any(|(known, _)| *known == name) {
        return Err(Error::usage(format!("there is a transform called {name} already")));
    }
    registered.push((name, make));
    Ok(())
}

/// Whether there is a transform with a name.
pub(crate) fn is_known(name: &str) -> bool {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    BUILT_IN.iter().chain(registered.iter()).any(|(known, _)| *known == name)
}

fn make(spec: &TransformSpec, context: &TransformContext<'_>) -> Result<Arc<dyn Transform>> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner).clone();
    let known: Vec<_> = BUILT_IN.iter().copied().chain(registered).collect();
    if let Some((_, make)) = known.iter().find(|(name, _)| *name == spec.name) {
        return make(spec, context);
    }
    let names = || known.iter().map(|(name, _)| *name);
    let error = Error::usage(format!("there is no transform called {}", spec.name));
    Err(match nearest_name(&spec.name, names()) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error.with_help(format!("there are {}", names().collect::<Vec<_>>().join(", "))),
    })
}

/// Applies transforms to a source, one after another: to all of its streams, or to one.
pub(crate) fn apply(
    mut source: Arc<dyn Source>,
    stream: Option<&str>,
    specs: &[TransformSpec],
    opener: &Opener,
    open_corpus: OpenCorpus,
) -> Result<Arc<dyn Source>> {
    for spec in specs {
        let number = |name: &str| one_stream::number(source.streams(), name, &spec.name);
        let number = stream.map(number).transpose()?;
        let context = TransformContext { opener, source: &source, stream: number, open_corpus };
        let mut transform = make(spec, &context)?;
        if let Some(number) = number {
            transform = Arc::new(OneStream { number, transform });
        }
        source = Arc::new(Transformed::new(source, transform)?);
    }
    Ok(source)
}

#[cfg(test)]
mod tests {
    use seqfeed_core::{Block, Index, IndexBuilder, Stream};

    use super::*;

    /// No streams, and no sequences.
    struct Nothing(Arc<Index>);

    impl Source for Nothing {
        fn name(&self) -> &str {
            "nothing"
        }
        fn streams(&self) -> &[Stream] {
            &[]
        }
        fn index(&self) -> &Arc<Index> {
            &self.0
        }
        fn load(&self, _sequences: &[u32], _blocks: &mut [Block]) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn options_are_read_from_text() {
        let spec = TransformSpec::parse("x, a=1 ,b=true,c=scp:f.scp, 3,d=-0.5").unwrap();
        let expected = "a = 1\nb = true\nc = 'scp:f.scp,3'\nd = -0.5".parse::<Table>().unwrap();
        assert_eq!((spec.name.as_str(), spec.options), ("x", expected));
        for text in ["", ",a=1", "x,a", "x,a=1,a=2"] {
            assert!(TransformSpec::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_and_options_that_there_are_not() {
        let source: Arc<dyn Source> = Arc::new(Nothing(Arc::new(IndexBuilder::new(1).finish())));
        let context = TransformContext {
            opener: &Opener::default(),
            source: &source,
            stream: None,
            open_corpus: |name, _| Err(Error::usage(name)),
        };
        let error =
            |text: &str| make(&TransformSpec::parse(text).unwrap(), &context).err().unwrap();
        assert_eq!(error("subsampel").help(), Some("did you mean `subsample`?"));
        let wrong = error("subsample,n=3,offest=1");
        assert!(wrong.message().contains("no option `offest`") && wrong.is_usage(), "{wrong}");
        assert_eq!(wrong.help(), Some("did you mean `offset`?"));
        let other = error("subsample,n=3,zzz=1");
        assert_eq!(other.help(), Some("its options are n, offset"));
        assert!(error("subsample").message().ends_with("there is no `n`"));
        assert!(register_transform("noise", plain::<Subsample>).is_err());
        // A wrong value is told with its option.
        assert_eq!(
            error("stack,m=x,n=2").message(),
            "transform stack: m = \"x\", but it must be a whole number from 0, below 2^32"
        );
        let mut options = 0;
        for (name, _) in BUILT_IN {
            let unknown = error(&format!("{name},zzz=1"));
            let known = unknown.help().and_then(|help| help.strip_prefix("its options are "));
            for option in known.into_iter().flat_map(|known| known.split(", ")) {
                let wrong = error(&format!("{name},{option}={{ a = 1 }}"));
                let told = format!("transform {name}: {option} = {{ a = 1 }}, but it must be ");
                assert!(wrong.message().starts_with(&told), "{wrong}");
                options += 1;
            }
        }
        assert!(options > 30, "{options}");
    }
}
