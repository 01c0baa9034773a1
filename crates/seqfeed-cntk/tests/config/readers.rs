//! Reader sections: defaults, options, and what is wrong with them.

use seqfeed_cntk::config::{
    Config, CtfFormat, Deserializer, MlfFiles, Precision, Randomize, ReadMethod, ReaderConfig,
    ReaderKind, Window,
};
use seqfeed_core::Result;
use serde_json::{Value as Json, json};

/// The outermost section as a reader.
fn reader(text: &str) -> Result<ReaderConfig> {
    ReaderConfig::from_section(Config::parse("f.cntk", text)?.root())
}

#[test]
fn a_stand_alone_reader_is_its_own_deserializer() {
    let text = "
        precision = double ; traceLevel = 2
        readerType = \"CNTKTextFormatReader\"
        file = \"c:\\my data\\SampleInput.txt\"
        randomize = true ; randomizationWindow = 30
        skipSequenceIds = false ; maxErrors = 100
        chunkSizeInBytes = 1024 ; keepDataInMemory = true ; frameMode = false
        input = [
            b = [ alias = \"x\" ; dim = 3 ; format = \"Dense\" ]
            A = [ dim = 2147483647 ; format = \"SPARSE\" ; definesMBSize = true ]
        ]";
    let reader = reader(text).unwrap();
    assert_eq!(reader.kind, ReaderKind::Ctf);
    assert_eq!(reader.window(), Some(Window::Chunks(30)));
    assert_eq!((reader.precision, reader.keep_data_in_memory), (Precision::Double, true));
    assert!(reader.use_numeric_sequence_keys && reader.local_timeline && reader.htk.is_none());
    assert_eq!(reader.unknown, []);
    let Deserializer::Ctf(ctf) = &reader.deserializers[0] else { panic!() };
    assert_eq!(ctf.file, "c:\\my data\\SampleInput.txt");
    assert_eq!((ctf.max_errors, ctf.trace_level, ctf.chunk_size_in_bytes), (100, 2, 1024));
    assert_eq!(ctf.precision, Precision::Double);
    let inputs: Vec<_> = ctf
        .inputs
        .iter()
        .map(|i| (i.name.as_str(), i.alias.as_str(), i.dim, i.format, i.defines_mb_size))
        .collect();
    let expected = [
        ("A", "A", 2_147_483_647, CtfFormat::Sparse, true),
        ("b", "x", 3, CtfFormat::Dense, false),
    ];
    assert_eq!(inputs, expected);
}

#[test]
fn defaults_are_cntks() {
    let ctf =
        "deserializers=([type=CNTKTextFormatDeserializer;file=f;input=[a=[dim=1;format=dense]]])";
    let found = reader(ctf).unwrap();
    assert_eq!(found.randomize, Randomize::On);
    assert_eq!((found.trace_level, found.max_errors, found.randomization_seed), (1, 0, 0));
    assert!(!found.frame_mode && !found.truncated && !found.hash_sequence_keys && !found.write);
    let Deserializer::Ctf(ctf) = &found.deserializers[0] else { panic!() };
    assert_eq!((ctf.chunk_size_in_bytes, ctf.trace_level, ctf.max_errors), (32 << 20, 1, 0));
    assert!(!ctf.cache_index && !ctf.skip_sequence_ids && !ctf.keep_data_in_memory);
}

#[test]
fn htk_readers_take_their_sections_for_streams() {
    let text = "
        readerType = HTKMLFReader ; readMethod = rollingWindow ; miniBatchMode = Full
        nbruttsineachrecurrentiter = 16*2:32 ; useMersenneTwisterRand = true
        randomize = 40 ; phases = [ x = 1 ]
        labels = [ mlfFile = a.mlf ; labelMappingFile = states ; labelDim = 132 ; dim = 7
                   labelType = category ; targetDim = 3 ]
        Features = [ dim = 363 ; type = real ; scpFile = a.scp ; prefixPathInSCP = \"d\\e//\" ]
        b = [ dim = 33 ; scpFile = b.scp ; contextWindow = 5:6 ]
        c = [ labelDim = 2 ; mlfFileList = (x.mlf:y.mlf) ; phoneBoundaries = false ]";
    let found = reader(text).unwrap();
    let htk = found.htk.as_ref().unwrap();
    assert_eq!(htk.read_method, ReadMethod::RollingWindow);
    assert_eq!(htk.parallel_utterances, [16, 16, 32]);
    assert!(htk.mersenne_twister && !htk.partial_minibatches && found.frame_mode);
    assert_eq!(found.window(), Some(Window::Samples(40)));
    assert!(!found.use_numeric_sequence_keys);
    assert_eq!(found.unknown.len(), 1);
    assert_eq!(found.unknown[0].path, "phases");
    let names: Vec<&str> = found.deserializers.iter().flat_map(Deserializer::streams).collect();
    assert_eq!(names, ["b", "Features", "c", "labels"]);
}

#[test]
fn htk_streams_have_their_options() {
    let text = "
        readerType = HTKMLFReader
        labels = [ mlfFile = a.mlf ; labelMappingFile = states ; labelDim = 132 ; dim = 7
                   labelType = category ; targetDim = 3 ; labelToTargetMappingFile = t ]
        features = [ dim = 363 ; type = real ; scpFile = a.scp ; prefixPathInSCP = \"d\\e//\" ]
        more = [ dim = 33 ; scpFile = b.scp ; contextWindow = 5:6 ; expandToUtterance = true ]
        pairs = [ labelDim = 2 ; mlfFileList = (x.mlf:y.mlf) ]
        listed = [ dim = 2 ; mlfFileList = c:\\list ]";
    let found = reader(text).unwrap();
    let [features, more, labels, listed, pairs] = &found.deserializers[..] else { panic!() };
    let Deserializer::HtkFeatures(features) = features else { panic!() };
    assert_eq!((features.scp_file.as_str(), features.stream_dim()), ("a.scp", 363));
    assert_eq!(features.prefix_path_in_scp.as_deref(), Some("d/e/"));
    assert_eq!(features.max_sequence_size, Some(10_000));
    let Deserializer::HtkFeatures(more) = more else { panic!() };
    assert_eq!((more.context_window, more.stream_dim()), ((5, 6), 33 * 12));
    assert!(more.expand_to_utterance);
    let Deserializer::HtkMlf(labels) = labels else { panic!() };
    assert_eq!(labels.dim, 132);
    let ignored: Vec<&str> = found.ignored.iter().map(|key| key.path.as_str()).collect();
    assert_eq!(ignored, ["labels.dim"]);
    assert_eq!(labels.label_mapping_file.as_deref(), Some("states"));
    assert_eq!((labels.target_dim, labels.binary), (Some(3), false));
    let Deserializer::HtkMlf(listed) = listed else { panic!() };
    assert_eq!(listed.files, MlfFiles::List("c:\\list".into()));
    let Deserializer::HtkMlf(pairs) = pairs else { panic!() };
    assert_eq!(pairs.files, MlfFiles::Files(vec!["x.mlf".into(), "y.mlf".into()]));
}

#[test]
fn composites_pass_their_options_on() {
    let text = "
        frameMode = true ; precision = double ; traceLevel = 0
        deserializers = ({
            type = HTKFeatureDeserializer ; module = HTKDeserializers ; precision = float
            input = { definesMBSize = true ; h = { dim = 3 ; scpFile = x.scp ; contextWindow = 3 } }
        }:{
            type = CNTKTextFormatDeserializer ; file = x ; traceLevel = 2 ; frameMode = false
            input = { y = { dim = 3 ; format = dense ; aliass = z } }
        }:{
            type = HTKMLFBinaryDeserializer ; input = { z = { dim = 3 ; mlfFile = m } }
        })";
    let found = reader(text).unwrap();
    let [Deserializer::HtkFeatures(htk), Deserializer::Ctf(ctf), Deserializer::HtkMlf(mlf)] =
        &found.deserializers[..]
    else {
        panic!()
    };
    assert!(htk.frame_mode && ctf.frame_mode && mlf.frame_mode && mlf.binary);
    assert!(htk.defines_mb_size && !ctf.inputs[0].defines_mb_size);
    assert_eq!(
        (htk.precision, ctf.precision, ctf.trace_level),
        (Precision::Double, Precision::Double, 0)
    );
    assert_eq!(htk.context_window, (1, 1));
    assert!(!found.use_numeric_sequence_keys);
    assert_eq!(found.unknown.len(), 1);
    assert_eq!(found.unknown[0].path, "deserializers[1].input.y.aliass");
    assert_eq!(found.unknown[0].suggestion.as_deref(), Some("alias"));
}

#[test]
fn reader_errors_say_what_cntk_says_and_more() {
    let ctf = |more: &str, inputs: &str| {
        format!("readerType=CNTKTextFormatReader\nfile=f\n{more}\ninput=[\n{inputs}]")
    };
    let ok = "a=[dim=1;format=dense]";
    let composite = |more: &str, rest: &str| format!("{more}\ndeserializers=({rest})");
    let features = "[type=HTKFeatureDeserializer;input=[a=[dim=1;scpFile=s]]]";
    let one = format!("[type=CNTKTextFormatDeserializer;file=f;input=[{ok}]]");
    let cases = [
        ("a=1".into(), "f.cntk:1: CNTK configuration: the section says neither readerType nor"),
        (
            "\nreaderType=ImageReader".into(),
            "f.cntk:2: CNTK configuration: readerType 'ImageReader' is not supported (supported: CNTKTextFormatReader, ",
        ),
        (
            ctf("", "\n"),
            "f.cntk:1: CNTK configuration: CNTKTextFormatReader configuration contains an empty \"input\" section.",
        ),
        (
            "readerType=CNTKTextFormatReader\nfile=f".into(),
            "f.cntk:1: CNTK configuration: CNTKTextFormatReader configuration does not contain \"input\" section.",
        ),
        (
            ctf("", "a=[dim=1]"),
            "f.cntk:5: CNTK configuration: Input section for input 'a' does not specify all the required parameters, \"dim\" and \"format\".",
        ),
        (
            ctf("", "\na=[dim=x;format=dense]"),
            "f.cntk:6: CNTK configuration: ConfigValue (uint64_t): invalid input string 'x'",
        ),
        (
            ctf("", "a=[dim=1;\nformat=odd]"),
            "f.cntk:6: CNTK configuration: 'format' parameter must be set either to 'dense' or 'sparse'.",
        ),
        (
            ctf("", "a=[dim=2147483648;format=sparse]"),
            "f.cntk:5: CNTK configuration: Sample dimension (2147483648) for sparse input 'a' exceeds the maximum allowed value (2147483647).",
        ),
        (
            ctf("", "a=[dim=1;format=dense;alias=\"\"]"),
            "f.cntk:5: CNTK configuration: Alias value for input 'a' is empty.",
        ),
        (
            ctf("", &format!("{ok}\nb=[dim=1;format=dense;alias=a]")),
            "f.cntk:6: CNTK configuration: Alias a is already mapped to input a.",
        ),
        (
            ctf(
                "",
                "b=[dim=1;format=dense;definesMBSize=1]\na=[dim=1;format=dense;definesMBSize=1]",
            ),
            "f.cntk:1: CNTK configuration: Only a single stream is allowed to define the minibatch size, but 2 found: a, b.",
        ),
        (
            ctf("precision=half", ok),
            "f.cntk:3: CNTK configuration: Not supported precision 'half'. Expected 'double' or 'float'.",
        ),
        (
            ctf("randomize=7", ok),
            "f.cntk:3: CNTK configuration: ConfigValue (bool): boolean argument expected",
        ),
        (
            ctf("chunkSizeInBytes=0", ok),
            "f.cntk:3: CNTK configuration: chunkSizeInBytes must not be 0",
        ),
        (
            composite("", ""),
            "f.cntk:2: CNTK configuration: Could not find deserializers in the reader config.",
        ),
        (
            composite("", "[file=x]"),
            "f.cntk:2: CNTK configuration: configparameters: required parameter missing: f.cntk:deserializers[0]:type",
        ),
        (
            composite("", "[type=ImageDeserializer]"),
            "f.cntk:2: CNTK configuration: deserializer 'ImageDeserializer' is not supported (supported: CNTKTextFormatDeserializer, ",
        ),
        (
            composite("frameMode=1;truncated=1", &one),
            "f.cntk:1: CNTK configuration: frameMode and truncated BPTT are mutually exclusive.",
        ),
        (
            composite("truncated=1", &one),
            "f.cntk:1: CNTK configuration: Truncation length cannot be 0.",
        ),
        (
            composite("sampleBasedRandomizationWindow=1", &one),
            "f.cntk:1: CNTK configuration: 'sampleBasedRandomizationWindow' (== 'true') requires that the 'randomizationWindow' is explicitly specified.",
        ),
        (
            composite("randomizationWindowInChunks=1;randomizationWindowInSamples=1", &one),
            "f.cntk:1: CNTK configuration: randomizationWindowInChunks and randomizationWindowInSamples are mutually exclusive.",
        ),
        (
            composite("", &format!("{one}:{one}")),
            "f.cntk:2: CNTK configuration: Two streams with the same name 'a' have been found.",
        ),
        (
            composite("", "[type=HTKMLFDeserializer;input=[a=[dim=1;mlfFile=s]]]"),
            "f.cntk:2: CNTK configuration: MLFDeserializer currently does not support primary mode.",
        ),
        (
            composite("", &format!("{features}:[type=HTKMLFDeserializer;input=[b=[dim=1]]]")),
            "f.cntk:2: CNTK configuration: Either mlfFile or mlfFileList must exist",
        ),
        (
            composite(
                "",
                &format!("{features}:[type=HTKMLFDeserializer;input=[b=[dim=65536;mlfFile=s]]]"),
            ),
            "f.cntk:2: CNTK configuration: Label dimension (65536) exceeds the maximum allowed value (65535)",
        ),
        (
            composite(
                "",
                "[type=HTKFeatureDeserializer;input=[a=[dim=1;scpFile=s;contextWindow=1:2:3]]]",
            ),
            "f.cntk:2: CNTK configuration: contextWindow must have 1 or 2 values specified, found 3.",
        ),
        (
            composite(
                "",
                "[type=HTKFeatureDeserializer;input=[a=[dim=1;scpFile=s;expandToUtterance=1]]]",
            ),
            "f.cntk:2: CNTK configuration: Cannot expand utterances of the primary stream a, please",
        ),
        (
            "readerType=HTKDeserializers\nreadMethod=rollingWindow".into(),
            "f.cntk:2: CNTK configuration: readMethod must be 'blockRandomize' or 'none'.",
        ),
        (
            "readerType=HTKMLFReader\nreadMethod=blockRandomise".into(),
            "f.cntk:2: CNTK configuration: readMethod must be 'blockRandomize', 'rollingWindow' or 'none'. (it is 'blockRandomise': is 'blockRandomize' meant?)",
        ),
        (
            "readerType=HTKDeserializers\nreadMethod=foo".into(),
            "f.cntk:2: CNTK configuration: readMethod must be 'blockRandomize' or 'none'. (it is 'foo')",
        ),
        (
            "readerType=HTKMLFReader\nminibatchMode=ful".into(),
            "f.cntk:2: CNTK configuration: minibatchMode must be 'partial' or 'full'. (it is 'ful': is 'full' meant?)",
        ),
        (
            ctf("", "a=[dim=0;format=dense]"),
            "f.cntk:5: CNTK configuration: dim must not be 0 (a whole number above 0)",
        ),
        (
            "readerType=HTKMLFReader\na=[dim=0;scpFile=s]".into(),
            "f.cntk:2: CNTK configuration: dim must not be 0",
        ),
        (
            "readerType=HTKMLFReader\na=[dim=1;scpFile=s]\nb=[labelDim=0;mlfFile=m]".into(),
            "f.cntk:3: CNTK configuration: labelDim must not be 0",
        ),
        (
            "readerType=HTKDeserializers\naction=write".into(),
            "f.cntk:1: CNTK configuration: 'readMethod' must be 'none' for write action.",
        ),
        (
            "readerType=HTKMLFReader\ntruncated=true".into(),
            "f.cntk:2: CNTK configuration: 'Truncated' cannot be 'true' in frameMode",
        ),
        (
            "readerType=HTKMLFReader\nlegacyMode=true".into(),
            "f.cntk:1: CNTK configuration: legacy mode has been deprecated",
        ),
        (
            "readerType=HTKMLFReader\na=[labelType=real;mlfFile=m;dim=1]\nb=[scpFile=s;dim=1]"
                .into(),
            "f.cntk:2: CNTK configuration: Label type must be of type 'category'.",
        ),
        (
            "readerType=HTKMLFReader\na=[denlatTocFile=m]".into(),
            "f.cntk:2: CNTK configuration: a: lattices and phone models are not supported",
        ),
    ];
    for (text, expected) in cases {
        let error = reader(&text).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{text}\n{error}");
        assert!(error.help().is_some(), "no cure: {error}");
    }
}

#[test]
fn errors_in_dictionaries_name_the_way() {
    let input = |input: Json| json!({ "deserializers": [{ "type": "CNTKTextFormatDeserializer", "file": "f", "input": input }] });
    let cases = [
        (json!([]), "a reader must be a dictionary"),
        (
            input(json!({"a": {"dim": -1, "format": "dense"}})),
            "reader:deserializers[0]:input:a:dim: ConfigValue (uint64_t): invalid input string '-1'",
        ),
        (input(json!({"a": 7})), "reader:deserializers[0]:input:a: a section is expected, found 7"),
        (
            input(json!({"a": {"dim": [1], "format": "dense"}})),
            "reader:deserializers[0]:input:a:dim: a text is expected, found [1]",
        ),
        (json!({"Randomize": 1, "randomize": 1}), "duplicate parameter definition"),
    ];
    for (json, expected) in cases {
        let error = ReaderConfig::from_json(&json, None).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.help().is_some() || expected.contains("expected, found"), "no cure: {error}");
    }
    let window = |window: Json| {
        let input = json!({ "a": { "dim": 2, "scpFile": "s", "contextWindow": window, "definesMBSize": true } });
        let json = json!({ "deserializers": { "type": "HTKFeatureDeserializer", "input": input }, "randomize": "default" });
        let reader = ReaderConfig::from_json(&json, None).unwrap();
        let Deserializer::HtkFeatures(features) = &reader.deserializers[0] else { panic!() };
        assert!(!features.defines_mb_size, "CNTK does not see it here");
        features.context_window
    };
    assert_eq!(
        [json!([1, 2]), json!("1:2"), json!(5), json!("default")].map(window),
        [(1, 2), (1, 2), (2, 2), (0, 0)]
    );
    let mut deep = json!(1);
    for _ in 0..300 {
        deep = json!({ "a": deep });
    }
    let mut section = ReaderConfig::from_json(&deep, None);
    assert!(section.is_err());
    section = ReaderConfig::from_json(&json!({"deserializers": deep}), None);
    assert!(section.is_err());
}

#[test]
fn no_randomization_is_what_the_document_says() {
    for options in ["randomize=none", "randomize=none;readMethod=blockRandomize"] {
        let text = format!("readerType=HTKMLFReader;{options}\na=[dim=1;scpFile=s]");
        let found = reader(&text).unwrap();
        assert_eq!(found.window(), None, "{options}");
        assert_eq!(found.htk.unwrap().read_method, ReadMethod::None);
        assert_eq!(found.notes.len(), 1);
        assert!(found.notes[0].contains("CNTK itself wants readMethod=none"), "{:?}", found.notes);
    }
}

#[test]
fn the_older_reader_writes_whatever_the_read_method() {
    // What evaluation sections of CNTK's examples look like: the action stands around the reader.
    let text = "command=Write\nWrite=[\naction=write\nreader=[\nreaderType=HTKMLFReader\n\
                rollingWindow=1\nx=[dim=1;scpFile=s]\ny=[labelDim=1;mlfFile=m]\n]\n]";
    let config = Config::parse("f.cntk", text).unwrap();
    let found = ReaderConfig::from_section(&config.section_at("Write.reader").unwrap()).unwrap();
    assert!(found.write && !found.frame_mode && found.window().is_none());
    assert_eq!(
        found.deserializers.iter().flat_map(Deserializer::streams).collect::<Vec<_>>(),
        ["x"]
    );
    let ignored: Vec<&str> = found.ignored.iter().map(|key| key.path.as_str()).collect();
    assert_eq!(ignored, ["Write.reader.y"]);
}
