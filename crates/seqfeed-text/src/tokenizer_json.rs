//! Tokenizers that are described by a `tokenizer.json`.

use std::ffi::OsStr;
use std::fmt::{self, Debug, Display, Formatter};
use std::sync::Arc;

use seqfeed_core::panics::caught;
use seqfeed_core::{Error, Key, Problem, Result, SymbolTable};
use seqfeed_io::Opener;
use tokenizers::{InputSequence, ModelWrapper, Tokenizer};

use crate::form::Value;
use crate::tokenize::Tokenize;

const FORMAT: &str = "tokenizer.json";
/// The most bytes of a file. Those of large language models have 30 million.
const MOST: u64 = 1 << 28;
/// Memory for a byte of a text: its normalized form with the place of each byte, and its tokens
/// with their texts, places and marks. A token may be a single byte.
const BYTES: u64 = 256;

/// A tokenizer that a `tokenizer.json` describes, the file of Hugging Face's library `tokenizers`.
///
/// Padding and truncation in the file have no effect.
pub struct TokenizerJson {
    tokenizer: Tokenizer,
    symbols: Arc<SymbolTable>,
    /// Whether its post-processor adds special tokens.
    add_special_tokens: bool,
}

impl TokenizerJson {
    /// Reads a file. `add_special_tokens` says whether the tokens at the beginning and the end are
    /// added that its post-processor names.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or is no tokenizer, if it gives random tokens, or if a
    /// token has a number of 2^31 or more.
    pub fn open(name: &OsStr, add_special_tokens: bool, opener: &Opener) -> Result<Self> {
        let location = opener.place(name);
        opener.refuse_named_pipe(&location)?;
        let bytes = opener.read_settings(&location, FORMAT, MOST)?;
        Self::parse(&bytes, add_special_tokens).map_err(|error| error.in_file(location.to_string()))
    }

    /// Parses the content of a file. See [`TokenizerJson::open`].
    ///
    /// # Errors
    ///
    /// Fails if it is no tokenizer, if it gives random tokens, or if a token has a number of 2^31
    /// or more.
    pub fn parse(json: &[u8], add_special_tokens: bool) -> Result<Self> {
        let parsed = caught(|| serde_json::from_slice::<Tokenizer>(json)).map_err(unusable)?;
        let mut tokenizer = parsed.map_err(|error| match error.line() {
            0 => unusable(error),
            line => unusable(&error).at_line(line as u64),
        })?;
        if let ModelWrapper::BPE(model) = tokenizer.get_model()
            && model.dropout.is_some_and(|dropout| dropout > 0.0)
        {
            return Err(unusable("`dropout` gives a text other tokens each time")
                .with_help("set `dropout` of the model to null"));
        }
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(unusable)?;
        let mut tokens: Vec<(u32, String)> =
            tokenizer.get_vocab(true).into_iter().map(|(token, number)| (number, token)).collect();
        tokens.sort_unstable();
        let mut symbols = SymbolTable::default();
        for (number, token) in tokens {
            let Ok(number) = i32::try_from(number) else {
                let token = Key(token.as_bytes());
                let what = format!("the token `{token}` has the number {number}");
                return Err(unusable(what).with_help("labels are below 2^31"));
            };
            symbols.insert(token.as_bytes(), number);
        }
        Ok(Self { tokenizer, symbols: Arc::new(symbols), add_special_tokens })
    }
}

impl Debug for TokenizerJson {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { add_special_tokens, symbols, .. } = self;
        write!(f, "{FORMAT}, {} tokens, add_special_tokens: {add_special_tokens}", symbols.len())
    }
}

impl Tokenize for TokenizerJson {
    fn symbols(&self) -> &Arc<SymbolTable> {
        &self.symbols
    }

    fn tokenize(&self, text: &Value<'_>, numbers: &mut Vec<i32>) -> Result<()> {
        let text: InputSequence<'_> = match text {
            Value::Text(text) => std::str::from_utf8(text).map_err(|_| no_unicode(text))?.into(),
            Value::Parts(parts) => parts[..].into(),
        };
        let encoding = caught(|| self.tokenizer.encode_fast(text, self.add_special_tokens))
            .map_err(unusable)?
            .map_err(unusable)?;
        for &number in encoding.get_ids() {
            let number = i32::try_from(number);
            numbers.push(number.map_err(|_| unusable("a token has no number below 2^31"))?);
        }
        Ok(())
    }

    fn bytes(&self, text: u64) -> u64 {
        BYTES.saturating_mul(text)
    }
}

fn unusable(what: impl Display) -> Error {
    Error::format(FORMAT, Problem::Unsupported(what.to_string().into()))
}

fn no_unicode(text: &[u8]) -> Error {
    let found = text[..text.len().min(32)].to_vec();
    Error::format("text", Problem::Unexpected { expected: "characters of UTF-8".into(), found })
        .with_help("convert the file to UTF-8")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Words, with `<s>` before and `</s>` behind each text.
    const WORDS: &str = r#"{
        "version": "1.0", "truncation": {"direction": "Right", "max_length": 2,
        "strategy": "LongestFirst", "stride": 0}, "padding": {"strategy": {"Fixed": 9},
        "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0,
        "pad_token": "<unk>"}, "added_tokens": [], "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "</s>", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]},
                "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}}},
        "decoder": null,
        "model": {"type": "WordLevel", "unk_token": "<unk>",
            "vocab": {"<unk>": 0, "<s>": 1, "</s>": 2, "six": 7, "seven": 4}}}"#;

    /// Pairs of characters that are merged in the order of the list: "aabab" is a + ab + ab, which
    /// is a + abab.
    const PAIRS: &str = r#"{
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null,
        "decoder": null,
        "model": {"type": "BPE", "dropout": null, "unk_token": "<unk>",
            "continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": false,
            "byte_fallback": false,
            "vocab": {"<unk>": 0, "a": 1, "b": 2, "ab": 3, "abab": 4, "aa": 5},
            "merges": ["a b", "ab ab", "a a"]}}"#;

    fn tokens(tokenizer: &TokenizerJson, text: &str) -> Vec<i32> {
        let mut numbers = Vec::new();
        tokenizer.tokenize(&Value::Text(text.as_bytes().into()), &mut numbers).unwrap();
        numbers
    }

    #[test]
    fn a_text_is_tokens_of_the_vocabulary() {
        let words = TokenizerJson::parse(WORDS.as_bytes(), true).unwrap();
        assert_eq!(tokens(&words, "Seven six  eight"), [1, 4, 7, 0, 2]);
        assert_eq!(tokens(&words, ""), [1, 2]);
        assert_eq!(words.symbols().name(7), Some(&b"six"[..]));
        assert_eq!(words.symbols().len(), 5);
        let bare = TokenizerJson::parse(WORDS.as_bytes(), false).unwrap();
        assert_eq!(tokens(&bare, "six seven six"), [7, 4, 7]);
        let mut numbers = Vec::new();
        let parts = Value::Parts(vec!["six".to_owned(), "six six".to_owned()]);
        bare.tokenize(&parts, &mut numbers).unwrap();
        assert_eq!(numbers, [7, 7, 7]);
        let pairs = TokenizerJson::parse(PAIRS.as_bytes(), true).unwrap();
        assert_eq!(tokens(&pairs, "aabab aab xb"), [1, 4, 1, 3, 0, 2]);
        assert_eq!(tokens(&pairs, "aa ba"), [5, 2, 1]);
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        let error = |json: &str| TokenizerJson::parse(json.as_bytes(), true).unwrap_err();
        let wide = WORDS.replace("\"six\": 7", "\"six\": 2147483648");
        assert!(error(&wide).message().contains("`six` has the number 2147483648"));
        let random = PAIRS.replace("\"dropout\": null", "\"dropout\": 0.1");
        assert!(error(&random).help().unwrap().contains("null"));
        let none = PAIRS.replace("\"dropout\": null", "\"dropout\": 0.0");
        assert!(TokenizerJson::parse(none.as_bytes(), true).is_ok());
        let cut = error("{\n\"version\": \"1.0\",\n");
        assert!(cut.to_string().contains(":3") || cut.to_string().contains("line 3"), "{cut}");
        let words = TokenizerJson::parse(WORDS.as_bytes(), true).unwrap();
        let bytes = Value::Text(b"a\xff".as_slice().into());
        let error = words.tokenize(&bytes, &mut Vec::new()).unwrap_err();
        assert!(error.message().contains("UTF-8"), "{error}");
        // Without a token for unknown words, a word that is not known is an error.
        let strict = WORDS.replace("\"<unk>\": 0, ", "");
        let strict = TokenizerJson::parse(strict.as_bytes(), true).unwrap();
        let eight = Value::Text(b"eight".as_slice().into());
        assert!(strict.tokenize(&eight, &mut Vec::new()).is_err());
        // A special token may have any number.
        let special = WORDS.replace("\"ids\": [2]", "\"ids\": [4294967295]");
        let special = TokenizerJson::parse(special.as_bytes(), true).unwrap();
        assert!(special.tokenize(&eight, &mut Vec::new()).is_err());
    }

    #[test]
    fn damaged_files_are_errors() {
        for json in [WORDS, PAIRS] {
            for at in 0..json.len() {
                let mut damaged = json.as_bytes().to_vec();
                damaged[at] = b"0\"[x"[at % 4];
                for bytes in [&damaged[..], &json.as_bytes()[..at]] {
                    let Ok(tokenizer) = TokenizerJson::parse(bytes, true) else { continue };
                    let text = Value::Text(b"six aab".as_slice().into());
                    // Some damage only changes a name.
                    let _ = tokenizer.tokenize(&text, &mut Vec::new());
                }
            }
        }
    }
}
