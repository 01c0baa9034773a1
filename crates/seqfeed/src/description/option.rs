//! Options: keys of `corpus.toml`, flags of the command line, keywords in Python.
//!
//! Options are declared once, as the fields of a spec, by the macro [`options`].

use toml::Value;

/// The values that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionValues {
    /// `true` or `false`.
    Flag,
    /// Whole numbers from 0.
    Unsigned,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Real,
    /// Text, or a number.
    Text,
    /// The name of a file or table.
    Name,
    /// One name or several.
    Names,
    /// Transforms with their options, one or several.
    Transforms,
    /// A whole number, or several.
    Numbers,
    /// A number, or pairs of a position and a number from there on.
    Schedule,
    /// One of these words.
    Words(&'static [&'static str]),
}

/// The commands that have an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionScope {
    /// All that open a corpus.
    Corpus,
    /// Those that feed it.
    Feed,
}

/// One option, with all that its users need to know.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CorpusOption {
    /// Its short name: `--batch-size`, and `batch_size` in Python.
    pub name: &'static str,
    /// The section of `corpus.toml` that has its key: `feed` is `[feed]`, and the empty text
    /// means the top, before all sections.
    pub section: &'static str,
    /// Its key there.
    pub key: &'static str,
    /// The values that it takes.
    pub values: OptionValues,
    /// The name of a value in a help text; empty for a switch.
    pub value_name: &'static str,
    /// Its default as text; empty if there is none.
    pub default: &'static str,
    /// Its documentation, in a sentence or two.
    pub doc: &'static str,
    /// The commands that have it.
    pub scope: OptionScope,
}

impl CorpusOption {
    /// The place of its key: `[feed] seed`, or `reader` at the top.
    #[must_use]
    pub fn place(&self) -> String {
        place(self.section, self.key)
    }
}

/// The place of a key: `[feed] seed`, or `reader` at the top.
pub(crate) fn place(section: &str, key: &str) -> String {
    match section {
        "" => key.to_owned(),
        section => format!("[{section}] {key}"),
    }
}

/// A type of values that options have.
pub(crate) trait OptionValue: Sized {
    const VALUES: OptionValues;

    /// Reads a value. The error says what is expected.
    fn from_value(value: &Value) -> Result<Self, String>;

    /// The value in TOML, as `from_value` reads it.
    fn to_value(&self) -> Value;
}

/// Declares a spec: a struct with a field for each option, and the table of these options.
///
/// A line is `[section] "key" "VALUE" field: type = "default", Scope;` under its documentation.
macro_rules! options {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                [$section:literal] $key:literal $value:literal
                $field:ident: $kind:ty $(= $default:literal)?, $scope:ident;
            )*
        }
        $( with { $( $(#[$more_meta:meta])* $more:ident: $more_kind:ty, )* } )?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: Option<$kind>, )*
            $( $( $(#[$more_meta])* pub $more: $more_kind, )* )?
        }

        impl $name {
            pub(crate) const OPTIONS: &'static [$crate::description::option::CorpusOption] = &[$(
                $crate::description::option::CorpusOption {
                    name: $key,
                    section: $section,
                    key: $key,
                    values: <$kind as $crate::description::option::OptionValue>::VALUES,
                    value_name: $value,
                    default: concat!("" $(, $default)?),
                    doc: concat!($($doc),+),
                    scope: $crate::description::option::OptionScope::$scope,
                },
            )*];

            /// Sets an option by its key. The error says what is expected.
            pub(crate) fn set(&mut self, key: &str, value: &toml::Value) -> Result<(), String> {
                use $crate::description::option::OptionValue as _;
                match key {
                    $( $key => self.$field = Some(<$kind>::from_value(value)?), )*
                    _ => return Err("a key that is known".to_owned()),
                }
                Ok(())
            }

            /// The value of a key, if it was given.
            pub(crate) fn get(&self, key: &str) -> Option<toml::Value> {
                use $crate::description::option::OptionValue as _;
                match key {
                    $( $key => self.$field.as_ref().map(<$kind>::to_value), )*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use options;
