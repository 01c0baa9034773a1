//! The rules of the parser, one by one.

use super::*;
use crate::ctf::InputFinder;

/// Parses one sequence of a dense input `a` of 2 values and a sparse one, `s`, below 10: the
/// samples and how many errors there were.
fn parse(
    text: &str,
    lines: u32,
    max_errors: u64,
    options: &ParserOptions,
) -> (Result<SequenceSamples<f64>>, Arc<CtfIncidents>) {
    let inputs =
        [CtfInput::dense("a", 2), CtfInput { alias: "s".into(), ..CtfInput::sparse("S", 10) }];
    let incidents = Arc::new(CtfIncidents::new(max_errors));
    let mut parser = Parser::new("f.ctf", &inputs, options, incidents.clone()).unwrap();
    let mut samples = SequenceSamples::new();
    // What was there is forgotten.
    parser.parse(b"|a 1 2 |s 3:4\n", 0, 1, &mut samples).unwrap();
    let result = parser.parse(text.as_bytes(), 100, lines, &mut samples);
    (result.map(|()| samples), incidents)
}

/// Text, dense values, indices, errors, warnings besides.
type Case<'a> = (&'a str, &'a [f64], &'a [u32], u64, u64);

/// As many inputs as anybody has: in their order, and against it.
#[test]
fn many_inputs_take_no_longer_each() {
    const INPUTS: usize = 200_000;
    let started = std::time::Instant::now();
    let line = |order: &mut dyn Iterator<Item = usize>| -> String {
        order.map(|number| format!("|a{number} 1 ")).collect::<String>() + "\n"
    };
    let text = line(&mut (0..INPUTS)) + &line(&mut (0..INPUTS).rev());
    let mut finder = InputFinder::new();
    finder.push(text.as_bytes());
    let found = finder.finish().unwrap();
    assert_eq!(found.len(), INPUTS);
    let inputs: Vec<CtfInput> = found.into_iter().map(|one| CtfInput::dense(one.name, 1)).collect();
    let incidents = Arc::new(CtfIncidents::new(0));
    let mut parser = Parser::new("f", &inputs, &ParserOptions::default(), incidents).unwrap();
    let mut samples = SequenceSamples::<f32>::new();
    parser.parse(text.as_bytes(), 0, 2, &mut samples).unwrap();
    assert!(samples.streams.iter().all(|stream| stream.samples == 2));
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn samples_are_read() {
    let cases: [Case; 18] = [
        ("1|a 1 2|s 3:4 3:5\n", &[1., 2.], &[3, 3], 0, 0),
        ("|s\t1:1\t|a\t1  2\t\r\n", &[1., 2.], &[1], 0, 0),
        ("|# a |a 1 2 |# |s \n", &[1., 2.], &[], 0, 0),
        ("|a|s 1:1\n", &[0., 0.], &[1], 0, 1),
        ("|a 1 |s 1:1\n", &[1., 0.], &[1], 0, 1),
        ("|a 1-2 |s 1:1-2:2 |s 1:1\n", &[1., -2.], &[1], 1, 0),
        ("|a 1 2 3 |a 4 5 |s 1:1\n", &[4., 5.], &[1], 1, 0),
        ("|a 1 x |a 4 5 |s 1:1\n", &[4., 5.], &[1], 1, 0),
        ("|a 1 2 |s 10:1 |s 9:1 \n", &[1., 2.], &[9], 1, 0),
        ("|a 1 2 |s 1 :1 |s 1: 1 |s 4:1 \n", &[1., 2.], &[4], 2, 0),
        ("|a 1 2 || |s 1:1\n", &[1., 2.], &[1], 2, 0),
        ("x |a 1 2 |s 1:1\n", &[1., 2.], &[1], 1, 0),
        ("|A 3 4 |sss 1 |a 1 2 |s 1:1\n", &[1., 2.], &[1], 0, 0),
        ("|a 1 2 |s 1:1\n\n", &[1., 2.], &[1], 1, 0),
        // The end without a line feed.
        ("|s 1:1 |a 1 2", &[1., 2.], &[1], 0, 0),
        ("|s 1:1 |a 1", &[1., 0.], &[1], 0, 1),
        ("|s 1:1 |a 1 2 |a 1 2 3", &[1., 2.], &[1], 1, 0),
        ("|a 1 2 |s 1:1 |s", &[1., 2.], &[1], 1, 0),
    ];
    for (text, values, indices, errors, warnings) in cases {
        let (samples, incidents) = parse(text, 1, 9, &ParserOptions::default());
        let streams = samples.unwrap_or_else(|error| panic!("{text}: {error}")).streams;
        let found = (&streams[0].values[..], &streams[1].indices[..]);
        assert_eq!(found, (values, indices), "{text}");
        assert_eq!(incidents.errors(), errors, "{text}: {:?}", incidents.first_warnings());
        assert_eq!(incidents.warnings(), errors + warnings, "{text}");
        assert_eq!(incidents.budget_left(), 9 - errors, "{text}");
        // One error too many.
        if errors > 0 {
            let (samples, incidents) = parse(text, 1, errors - 1, &ParserOptions::default());
            let message = samples.unwrap_err().to_string();
            assert!(message.contains("Reached the maximum number"), "{message}");
            assert_eq!(incidents.errors(), errors - 1);
        }
    }
}

#[test]
fn errors_say_what_where_and_how() {
    let cases: [(&str, u32, &str); 4] = [
        (
            "|a 1 2 |s 1:1\n|a 1 .5 |s 1:1\n",
            2,
            "f.ctf @ 119: CTF: Reached the maximum number of allowed errors while reading the input \
             file (f.ctf). a value is not a number: \".5 |s 1:1\" \
             (correct the line, or raise maxErrors (it is 0))",
        ),
        (
            "|a 1 2\n",
            1,
            "f.ctf @ 100: CTF: Malformed input file. Bailing out. Input ('S') is empty in the \
             sequence (each sequence needs a sample of each input: is `|s` the one meant?)",
        ),
        (
            "|a 1 2\n|s 1:1\n",
            2,
            "f.ctf @ 100: CTF: Reached the maximum number of allowed errors while reading the input \
             file (f.ctf). the longest input has 1 samples in a sequence of length 2 (a line may not \
             be longer than the longest input; set definesMBSize for an input that stands in each \
             line that counts, or raise maxErrors)",
        ),
        (
            "|a 1 2|a 1 2|s 1:1\n",
            1,
            "f.ctf @ 100: CTF: Reached the maximum number of allowed errors while reading the input \
             file (f.ctf). an input has 2 samples in a sequence of length 1 (correct the line, or \
             raise maxErrors (it is 0))",
        ),
    ];
    for (text, lines, expected) in cases {
        let (samples, _) = parse(text, lines, 0, &ParserOptions::default());
        assert_eq!(samples.unwrap_err().to_string(), expected);
    }
}

#[test]
fn labels_may_stand_alone_if_allowed() {
    let options = ParserOptions { longer_than_inputs: true, ..ParserOptions::default() };
    let (samples, _) = parse("|a 1 2\n|s 1:1\n", 2, 0, &options);
    assert_eq!(samples.unwrap().streams[1].indices, [1]);
    // More samples than lines are no better for it.
    assert!(parse("|a 1 2|a 1 2|s 1:1\n", 1, 0, &options).0.is_err());
}

#[test]
fn symbolic_ids_are_no_errors() {
    let options = ParserOptions { keys: KeyKind::Symbolic, ..ParserOptions::default() };
    let text = "u-1 |a 1 2 |s 1:1\n |a 3 4\n|a 5 6\nu-1|s |a 7 8\n";
    let (samples, incidents) = parse(text, 4, 0, &options);
    assert_eq!(samples.unwrap().streams[0].values, [1., 2., 3., 4., 5., 6., 7., 8.]);
    assert_eq!(incidents.warnings(), 0);
}

#[test]
fn the_main_stream_defines_the_length() {
    let inputs =
        [CtfInput { defines_mb_size: true, ..CtfInput::dense("a", 1) }, CtfInput::dense("b", 1)];
    let incidents = Arc::new(CtfIncidents::new(0));
    let options = ParserOptions::default();
    let mut parser = Parser::new("f.ctf", &inputs, &options, incidents).unwrap();
    let mut samples = SequenceSamples::<f32>::new();
    let text = b"|a 1\n|b 1\n|b 2\n|b 3\n";
    parser.parse(text, 0, 1, &mut samples).unwrap();
    assert_eq!(samples.streams[1].samples, 3);
    assert!(parser.parse(text, 0, 2, &mut samples).is_err());
}
