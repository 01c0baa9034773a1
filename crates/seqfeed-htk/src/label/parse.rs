//! The grammar of label files.

use seqfeed_core::{Problem, Result};

use super::scan::{Scanner, Token};
use super::{Labels, ParseOptions, Transcription, select};

const JUNK: &str = "between labels there are no empty lines, and the first list of labels is not empty \
                    (HTK error 6550)";
const NAMELESS: &str = "a line is `[start [end]] name [score] {name [score]}`; a name that looks like a \
                        number stands in quotes (HTK error 6550)";

/// Reads one transcription in HTK's format.
///
/// ```text
/// transcription = [ list { "///" newline list } ] { newline } end
/// list          = { [ start [ end ] ] name [ score ] { name [ score ] } newline }
/// ```
///
/// Unlike in HTK, names and lines may have any length. An invalid escape is an error; HTK stops
/// reading there.
///
/// ```
/// use seqfeed_htk::label::{ParseOptions, parse};
///
/// let text = b"0 2500000 sil\n2500000 3600000 aa -12.5 AA\n";
/// let transcription = parse(text, &ParseOptions::default())?;
/// let second = transcription.alternatives[0].segment(1);
/// assert_eq!((second.start, second.end), (Some(2_500_000.0), Some(3_600_000.0)));
/// assert_eq!((second.name().text, second.name().score), (&b"aa"[..], -12.5));
/// assert_eq!(second.level(1).unwrap().text, b"AA");
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
///
/// # Errors
///
/// The same cases as in HTK, with the line: a label without a name, an empty line between labels,
/// an open quote. Also if the requested level or alternative does not exist.
pub fn parse(data: &[u8], options: &ParseOptions) -> Result<Transcription> {
    let mut parser = Parser { scanner: Scanner::new(data, options), options };
    let mut transcription = Transcription::default();
    let mut token = parser.scanner.next()?;
    if matches!(token, Token::Name | Token::Number(_)) {
        transcription.alternatives.push(parser.list(&mut token)?);
        while token == Token::Separator {
            // Consumes the newline; otherwise it would be a name.
            parser.scanner.next()?;
            token = parser.scanner.next()?;
            transcription.alternatives.push(parser.list(&mut token)?);
        }
    }
    while token == Token::LineEnd {
        token = parser.scanner.next()?;
    }
    if token != Token::End {
        return Err(parser.unexpected("the end of the transcription", JUNK));
    }
    select::apply(transcription, options)
}

struct Parser<'a> {
    scanner: Scanner<'a>,
    options: &'a ParseOptions,
}

impl Parser<'_> {
    fn list(&mut self, token: &mut Token) -> Result<Labels> {
        let mut labels = Labels::new();
        while matches!(token, Token::Name | Token::Number(_)) {
            let start = self.number(token)?;
            let end = if start.is_some() { self.number(token)? } else { None };
            let scale = |time: f64| time * self.options.time_scale;
            let (start, end) = (start.map(scale), end.map(scale));
            self.name(token, &mut labels, |labels, name| labels.push(start, end, name, 0.0))?;
            while !matches!(token, Token::LineEnd | Token::End) {
                self.name(token, &mut labels, |labels, name| labels.push_name(name, 0.0))?;
            }
            if *token == Token::LineEnd {
                *token = self.scanner.next()?;
            }
        }
        Ok(labels)
    }

    /// Consumes a number, if there is one.
    fn number(&mut self, token: &mut Token) -> Result<Option<f64>> {
        let Token::Number(value) = *token else { return Ok(None) };
        *token = self.scanner.next()?;
        Ok(Some(value))
    }

    /// Consumes a name and its score.
    fn name(
        &mut self,
        token: &mut Token,
        labels: &mut Labels,
        push: impl FnOnce(&mut Labels, &[u8]),
    ) -> Result<()> {
        if *token != Token::Name {
            return Err(self.unexpected("a name", NAMELESS));
        }
        let mut name = &self.scanner.word[..];
        if self.options.strip_triphones {
            name = select::strip_triphone(name);
        }
        push(labels, name);
        *token = self.scanner.next()?;
        if let Some(score) = self.number(token)? {
            labels.score_last(score as f32);
        }
        Ok(())
    }

    fn unexpected(&self, expected: &'static str, help: &'static str) -> seqfeed_core::Error {
        let problem =
            Problem::Unexpected { expected: expected.into(), found: self.scanner.found() };
        self.scanner.error(problem, help)
    }
}
