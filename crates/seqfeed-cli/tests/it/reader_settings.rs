//! Settings of CNTK's readers: what gives them values, and what is said of those without effect.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{run, try_dump};

/// What a command prints on standard error; its exit status must be this.
fn said(directory: &Path, arguments: &[&str], status: i32) -> String {
    let output = run(directory, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {errors}{printed}");
    errors
}

/// A corpus of one input in a directory of its own, and sections that need a variable for it.
fn corpus(at: &Path) {
    fs::create_dir_all(at.join("data")).unwrap();
    fs::write(at.join("data/x.ctf"), "1 |x 1 2\n2 |x 3 4\n").unwrap();
    let reader = "readerType = CNTKTextFormatReader ; randomize = false ; file = \"$DataDir$/x.ctf\"\n\
                  input = [ x = [ dim = 2 ; format = dense ] ]";
    let text = format!("Train = [\naction = train\nreader = [\n{reader}\n] ]\n");
    fs::write(at.join("one.cntk"), text).unwrap();
}

#[test]
fn variables_get_their_values_behind_the_name_or_by_an_option() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(at);
    // Without a value the variable is named, with the section and without it.
    for name in ["one.cntk#Train.reader", "one.cntk"] {
        let message = said(at, &["feed", name], 1);
        assert!(message.contains("No variable found with the name DataDir."), "{message}");
        assert!(message.contains("help: ") && message.contains(",DataDir="), "{message}");
        assert!(message.contains("one.cntk:4"), "{message}");
    }
    let expected = try_dump(at, &["data/x.ctf", "--order=sequential"]).unwrap();
    let values = |found: &[Value]| -> Vec<Value> {
        found.iter().map(|minibatch| minibatch["streams"]["x"]["data"].clone()).collect()
    };
    let ways: [&[&str]; 5] = [
        &["one.cntk#Train.reader,DataDir=data"],
        &["one.cntk,DataDir=data"],
        &["one.cntk", "--override", "DataDir=data"],
        // As in CNTK, all variables of a section need values, also those that are overridden.
        &["one.cntk#train.reader,DataDir=", "--override=Train=[reader=[file=data/x.ctf]]"],
        &["one.cntk,DataDir=", "--override", "Train.reader.file=data/x.ctf"],
    ];
    for way in ways {
        assert_eq!(values(&try_dump(at, way).unwrap()), values(&expected), "{way:?}");
        for command in ["info", "check", "describe"] {
            said(at, &[&[command], way].concat(), 0);
        }
    }
    // Options stay options, and the option goes before what stands behind the name.
    let found =
        try_dump(at, &["one.cntk,DataDir=gone,batch=1", "--override=DataDir=data"]).unwrap();
    assert_eq!(found.len(), 2);
    // A description says them too, and `describe` writes such a one.
    let described = run(at, &["describe", "one.cntk,DataDir=data,Train.reader.traceLevel=0"]);
    let text = String::from_utf8(described.stdout).unwrap();
    let table = "\n[overrides]\nDataDir = \"data\"\n\"Train.reader.traceLevel\" = \"0\"\n";
    assert!(text.contains(table), "{text}");
    fs::write(at.join("corpus.toml"), text).unwrap();
    assert_eq!(values(&try_dump(at, &["corpus.toml"]).unwrap()), values(&expected));
}

#[test]
fn overrides_that_change_nothing_are_said() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(at);
    let message = said(at, &["feed", "one.cntk,DataDir=data,contxt=5,Other=1"], 0);
    assert!(
        message.contains(
            "the override contxt changes nothing in the reader; is the option `context` meant?"
        ),
        "{message}"
    );
    assert!(message.contains("the override Other changes nothing in the reader\n"), "{message}");
    assert!(!message.contains("DataDir"), "{message}");
    for arguments in [
        &["feed", "one.cntk,DataDir"][..],
        &["feed", "one.cntk", "--override=DataDir"],
        &["feed", "data/x.ctf", "--override=DataDir=data"],
        &["feed", "one.cntk", "--override=a..b=c"],
    ] {
        said(at, arguments, 2);
    }
}

#[test]
fn settings_without_effect_or_sense_are_said() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let mut file = Vec::new();
    file.extend(i32::to_be_bytes(2));
    file.extend(100_000i32.to_be_bytes());
    file.extend([0, 4, 0, 9]);
    file.extend([1f32, 2.0].into_iter().flat_map(f32::to_be_bytes));
    fs::write(at.join("a.mfc"), file).unwrap();
    fs::write(at.join("a.scp"), "a=a.mfc[0,1]\n").unwrap();
    let section = |options: &str| {
        let text = format!(
            "reader = [ readerType = HTKMLFReader\n{options}\nx = [ dim = 1 ; scpFile = a.scp ] ]"
        );
        fs::write(at.join("a.cntk"), text).unwrap();
    };
    let accepted = [
        ("pageFilePath = /tmp", "reader.pageFilePath has no effect: there is no page file"),
        ("minibatchMode = full ; frameMode = false", "reader.minibatchMode has no effect"),
        ("randomize = none", "randomize=none: utterances come in the order of the script"),
        (
            "verbosity = 2 ; prefetch = false ; minimizeReaderMemoryFootprint = false",
            "reader.minimizeReaderMemoryFootprint, reader.prefetch have no effect: it is about",
        ),
        (
            "minibatchMod = full",
            "unknown name reader.minibatchMod in the reader; is minibatchMode meant?",
        ),
    ];
    for (options, warning) in accepted {
        section(options);
        let message = said(at, &["feed", "a.cntk"], 0);
        assert!(message.contains(&format!("warning: {warning}")), "{options}: {message}");
        // And as a finding.
        let output = run(at, &["check", "a.cntk"]);
        let findings = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(findings.contains("warning[setting]") && findings.contains(warning), "{findings}");
    }
    let refused = [
        ("minibatchMode = x", "minibatchMode must be 'partial' or 'full'."),
        ("minibatchMode = ful", "is 'full' meant?"),
        ("readMethod = foo", "readMethod must be 'blockRandomize', 'rollingWindow' or 'none'."),
        ("y = [ dim = 0 ; scpFile = a.scp ]", "dim must not be 0"),
    ];
    for (options, error) in refused {
        section(options);
        let message = said(at, &["feed", "a.cntk"], 1);
        assert!(message.contains(error), "{options}: {message}");
    }
}

#[test]
fn inputs_that_nobody_declares_and_ids_that_come_again_are_said() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    // The first of the two is the invalid example of CNTK's document, in other words.
    fs::write(at.join("x.ctf"), "7 |x 1 |lable 2:1\n8 |x 2\n7 |x 3 |lable 0:1 |\u{e9}x 1\n")
        .unwrap();
    let section = |level: u32| {
        let text = format!(
            "reader = [ readerType = CNTKTextFormatReader ; file = x.ctf ; traceLevel = {level} ; maxErrors = 1\n\
             randomize = false ; input = [ x = [ dim = 1 ; format = dense ] ] ]"
        );
        fs::write(at.join("x.cntk"), text).unwrap();
    };
    let undeclared = "x.ctf @ 8: input |lable is not declared: its samples are passed over";
    let again = "x.ctf: sequence ids must be unique, but 7 comes again behind other sequences";
    for (level, warns_again, warns_input) in [(0, false, false), (1, true, false), (2, true, true)]
    {
        section(level);
        let message = said(at, &["feed", "x.cntk"], 0);
        assert_eq!(message.contains(again), warns_again, "{level}: {message}");
        assert_eq!(message.contains(undeclared), warns_input, "{level}: {message}");
    }
    let output = run(at, &["check", "x.cntk"]);
    let findings = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        findings.contains("warning[undeclared-input]: input |lable is not declared"),
        "{findings}"
    );
    assert!(findings.contains("error[duplicate-key]"), "{findings}");
}

#[test]
fn back_slashes_in_configured_names_are_slashes_where_nothing_else_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    corpus(at);
    let text = fs::read_to_string(at.join("one.cntk")).unwrap();
    let text = text.replace("$DataDir$/x.ctf", "$DataDir$\\x.ctf");
    fs::write(at.join("one.cntk"), text).unwrap();
    let expected = try_dump(at, &["one.cntk,DataDir=data"]).unwrap();
    assert_eq!(expected[0]["samples"], 2);
    // Also beside the configuration, from elsewhere; and a file of that very name goes before.
    let name = format!("{},DataDir=data", at.join("one.cntk").display());
    assert_eq!(try_dump(Path::new("/"), &[&name]).unwrap(), expected);
    fs::write(at.join("data\\x.ctf"), "9 |x 5 6\n").unwrap();
    let found = try_dump(at, &["one.cntk,DataDir=data"]).unwrap();
    assert_eq!(found[0]["keys"], serde_json::json!(["9"]));
    let message = said(at, &["feed", "one.cntk,DataDir=c:\\mydata"], 1);
    assert!(message.contains("c:\\mydata\\x.ctf"), "{message}");
}

#[test]
fn names_that_mean_nothing_say_what_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let message = said(at, &["feed", "nothing*.xyz,context=1"], 2);
    assert!(message.contains("nothing*.xyz") && message.contains("match"), "{message}");
    assert!(!message.contains("corpus.toml"), "{message}");
    fs::write(at.join("nothing1.xyz"), "").unwrap();
    let message = said(at, &["feed", "nothing*.xyz,context=1"], 2);
    assert!(message.contains("1 file match"), "{message}");
    // A script of HTK's with a blank in its entries is none of Kaldi's.
    fs::write(at.join("plp.scp"), "a.plp=//host/a. plp[0,306]\n\nb.plp=//host/b.plp [0,9]\n")
        .unwrap();
    fs::write(at.join("apart.scp"), " a.plp = b.plp [0,3]\n").unwrap();
    for command in ["info", "feed"] {
        for name in ["plp.scp", "apart.scp"] {
            let message = said(at, &[command, name], 1);
            let place = format!("{name}:1");
            assert!(message.contains(&place) && message.contains("blank"), "{message}");
        }
    }
}
