//! What comes of each example.

use super::Way::{
    self, Command, Configuration, Header, LabelFile, Line, OptionOfReading, OptionOfWriting, Other,
    Read, Rows, Script, Sentences, Specification, Write,
};

/// Documents, by the start of their names.
pub(super) const KALDI: &str = "000 001";
pub(super) const CTF: &str = "002";
pub(super) const HTK: &str = "003";
pub(super) const PDNN: &str = "004";

/// Document, first words, what is done, outcome.
pub(super) type Row = (&'static str, &'static str, Way, Result<&'static str, &'static str>);

/// What is said of labels whose last line begins with dots instead of times.
const NO_TIMES: &str = "1 not in stream y: id; id was left out: master label file: the start time \
                        is not a number that fits: \"...\"\n  --> x.mlf:6 (key id)\n  help: a line \
                        of labels is `START END NAME`, with times in 100 ns or in frames";

/// Document, first words (of names and options all), what is done with it, and a part of what the
/// program prints when it then works, or fails.
pub(super) const TABLE: &[Row] = &[
    // Names to read and to write.
    (KALDI, "-", Read, Ok("copied 3 objects")),
    (KALDI, "-", Write, Ok("001 ")),
    (KALDI, "", Read, Ok("copied 3 objects")),
    (KALDI, "", Write, Ok("001 ")),
    (KALDI, "some command |", Read, Ok("copied 1 object")),
    (KALDI, "some command |", Write, Err("it ends with `|`")),
    (KALDI, "| some command", Write, Ok("copied 3 objects")),
    (KALDI, "| some command", Read, Err("begins with `|`")),
    (KALDI, "/some/filename:12345", Read, Ok("copied 1 object")),
    (KALDI, "/some/filename:12345", Write, Err("it ends like an offset")),
    (KALDI, "/some/filename", Read, Ok("copied 1 object")),
    (KALDI, "/some/filename", Write, Ok("copied 3 objects")),
    (KALDI, "|", Other, Err("the sign itself, in a sentence")),
    (KALDI, "gunzip -c /usr/data/file_010001.wav.gz |", Read, Ok("copied 1 object")),
    // Specifiers.
    (KALDI, "scp:/tmp/my_orig_features.scp", Read, Ok("copied 1 object")),
    (KALDI, "ark:/tmp/transforms.ark", Read, Ok("copied 3 objects")),
    (KALDI, "ark,t:/tmp/new_features.ark", Write, Ok("copied 3 objects")),
    (KALDI, "scp:data/train.scp", Read, Ok("copied 1 object")),
    (KALDI, "ark:-", Read, Ok("copied 3 objects")),
    (KALDI, "ark,t:| gzip -c > /some/dir/foo.ark.gz", Write, Ok("copied 3 objects")),
    // Kaldi would write the script into the archive.
    (KALDI, "ark,scp:data/my.ark,data/my.ark", Write, Err("two outputs have this name")),
    (KALDI, "ark,scp:/some/dir/foo.ark,/some/dir/foo.scp", Write, Ok("copied 3 objects")),
    (KALDI, "utt_id /somedir/foo.ark:1234", Read, Ok("copied 1 object")),
    (KALDI, "ark,t,f:data/my.ark", Write, Ok("copied 3 objects")),
    (KALDI, "ark,scp,t,f:data/my.ark,|gzip -c > data/my.scp.gz", Write, Ok("copied 3 objects")),
    // A mistake of the documents: Kaldi's own code takes it for a name too.
    (KALDI, "ark:o,s,cs:-", Read, Err("options stand before the colon: `ark,o,s,cs:-`")),
    (KALDI, "scp,p:data/my.scp", Read, Ok("copied 1 object")),
    (KALDI, "ark,s:-", Read, Ok("copied 3 objects")),
    (KALDI, "ark,o:-", Read, Ok("copied 3 objects")),
    (KALDI, "ark,o:some command|", Read, Ok("copied 3 objects")),
    (KALDI, "ark,s,cs:some command|", Read, Ok("copied 3 objects")),
    (KALDI, "ark:somedir/some.ark", Read, Ok("copied 3 objects")),
    ("000", "ark:data/train/utt2spk", Read, Ok("copied 3 objects")),
    ("001", "ark:/data/train/utt2spk", Read, Ok("copied 3 objects")),
    (KALDI, "scp:", Other, Err("a prefix, in a sentence")),
    (KALDI, "ark:", Other, Err("a prefix, in a sentence")),
    ("000", "ark,scp:", Other, Err("a prefix, in a sentence")),
    // Options.
    (KALDI, "b", OptionOfWriting, Ok("copied 3 objects")),
    (KALDI, "t", OptionOfWriting, Ok("copied 3 objects")),
    (KALDI, "f", OptionOfWriting, Ok("copied 3 objects")),
    (KALDI, "nf", OptionOfWriting, Ok("copied 3 objects")),
    (KALDI, "p", OptionOfWriting, Ok("copied 3 objects")),
    (KALDI, "o", OptionOfReading, Ok("copied 3 objects")),
    (KALDI, "p", OptionOfReading, Ok("copied 3 objects")),
    (KALDI, "s", OptionOfReading, Ok("copied 3 objects")),
    (KALDI, "cs", OptionOfReading, Ok("copied 3 objects")),
    (KALDI, "no", OptionOfReading, Ok("copied 3 objects")),
    (KALDI, "np", OptionOfReading, Ok("copied 3 objects")),
    (KALDI, "ns", OptionOfReading, Ok("copied 3 objects")),
    (KALDI, "ncs", OptionOfReading, Ok("copied 3 objects")),
    (KALDI, "b", OptionOfReading, Ok("copied 3 objects")),
    (KALDI, "t", OptionOfReading, Ok("copied 3 objects")),
    // Lines and commands.
    (KALDI, "some_string_identifier", Line, Ok("copied 1 object")),
    (KALDI, "utt_id_01002 gunzip", Line, Ok("copied 1 object")),
    ("000", "<key> <rxfilename>", Other, Err("the form of a line, not a line")),
    ("000", "utt_id_01002 foo.ark:89142[0:51]", Line, Ok(" 51.78125 ]")),
    ("000", "utt_id_01002 foo.ark:89142[0:51,", Line, Ok("[\n  0.6953125 ")),
    ("000", "utt_id_01002 foo.ark:89142[,", Line, Ok(" 59.78125 ]")),
    (KALDI, "token1", Other, Err("the form of an archive, not an archive")),
    (KALDI, "utt_id_1 5", Line, Ok("utt_id_2 7")),
    (KALDI, "some-program ark:somedir/some.ark \"ark,o:", Command, Ok("3 sequences")),
    (KALDI, "some-program ark:somedir/some.ark \"ark,s,cs:", Command, Ok("3 sequences")),
    // Code in C++; the names in it are above.
    (
        KALDI,
        "class SomeKaldiClass { public: void Read(std::istream &is, bool binary);",
        Other,
        CODE,
    ),
    (
        KALDI,
        "class SomeKaldiClass { public: void Read(std::istream &is, bool binary, ",
        Other,
        CODE,
    ),
    (KALDI, "// we suppose", Other, CODE),
    (KALDI, "void ReadToken", Other, CODE),
    (KALDI, "// in writing code", Other, CODE),
    (KALDI, "{ // input.", Other, CODE),
    (KALDI, "std::string feature_rspecifier", Other, CODE),
    (KALDI, "std::string rspecifier1", Other, CODE),
    (KALDI, "std::string rspecifier, ", Other, CODE),
    // CNTK's text format.
    (CTF, "[Sequence_Id]", Other, Err("grammar")),
    (CTF, "Sample=", Other, Err("grammar")),
    (CTF, "Comment=", Other, Err("grammar")),
    (CTF, "reader = [ readerType", Configuration, Ok("3 sequences, 3 samples")),
    // Sequence 333 of the rows below has no `a`; CNTK stops there too.
    (CTF, "precision=\"double\"", Configuration, Err("is empty in the sequence")),
    (CTF, "reader = { verbosity", Configuration, Ok("1 sequence")),
    (CTF, "|B 100:3", Rows, Ok("3 sequences, 3 samples")),
    (CTF, "100 |a 1 2 3 |b 100 200 100", Rows, Err("is empty in the sequence")),
    (CTF, "|a 1 2 3 |b 100 200 100", Rows, Ok("3 sequences, 3 samples")),
    // The document calls it invalid; CNTK reads it, and so it is read with a warning.
    (CTF, "100 |a 1 2 3 |b 100 200 200", Rows, Ok("sequence ids must be unique, but 100")),
    (CTF, "123 |a 1 2 3", Rows, Err("the longest input has 1 samples in a sequence of length 2")),
    (CTF, "|class 23:1", Rows, Ok("2 sequences, 2 samples")),
    (CTF, "|src 12:1", Rows, Ok("2 sequences, 2 samples")),
    (CTF, "0 |word 234:1 |tag", Rows, Ok("2 sequences, 5 samples")),
    (CTF, "0 |word 234:1 |class", Rows, Ok("2 sequences, 5 samples")),
    // It is cut off in the document: the last sequence has no target.
    (CTF, "0 |sourceWord", Rows, Err("Input ('targetWord') is empty in the sequence")),
    (CTF, "0 |rating 4", Rows, Ok("3 sequences, 6 samples")),
    // HTK's files.
    (HTK, "reader = [ readerType", Configuration, Ok("dense float32 x 792")),
    (HTK, "id=pathname", Script, Ok("samples      4")),
    (HTK, "id=.../filename", Script, Ok("samples      4")),
    (HTK, "train-dr1-fcjf0-si1027.mfc", Script, Ok("samples      307")),
    (HTK, "train-dr1-fcjf0-si1657.mfc", Script, Ok("samples      282")),
    (HTK, "train-dr1-fcjf0-si648.mfc", Script, Ok("samples      360")),
    // The document has blanks in these.
    (HTK, "train-dr1-fcjf0-si1027.plp", Script, Err("expected an entry without blanks")),
    (HTK, "train-dr1-fcjf0-si1657.plp", Script, Err("expected an entry without blanks")),
    (HTK, "train-dr1-fcjf0-si648.plp", Script, Err("expected an entry without blanks")),
    (HTK, "#!MLF!# \"id\"", LabelFile, Err(NO_TIMES)),
    (HTK, "#!MLF!# \"train", LabelFile, Ok("samples      28")),
    (HTK, "struct fileheader", Header, Ok("samples      3")),
    // PDNN's specifications.
    (
        PDNN,
        "train.pfile,context=5,ignore-label=0:3-9,map-label=1:0/2:1,partition=1000m",
        Specification,
        Ok("x 440"),
    ),
    (PDNN, "valid.pfile,stream=False,random=True", Specification, Ok("478 samples")),
    (PDNN, "key=value", Specification, Ok("unknown option `key` has no effect")),
    (PDNN, "label=filename.ali", Specification, Ok("1 sequence, 60 samples")),
    (PDNN, "context=5", Specification, Ok("x 440")),
    (PDNN, "context=5:1", Specification, Ok("x 280")),
    (PDNN, "lcxt=5,rcxt=1", Specification, Ok("x 280")),
    // The document has a blank; PDNN passes over such an option.
    (PDNN, "lcxt=5, rcxt=1", Specification, Ok("is `rcxt` meant?")),
    (PDNN, "ignore-label=c", Specification, Err("expected labels, such as 0 or 7-9, found `c`")),
    (PDNN, "ignore-label=0:2:7-9", Specification, Ok("x 40")),
    (PDNN, "map-label=1:0/3:1/4:2/5:3/6:4", Specification, Ok("x 40")),
    (PDNN, "map-label=1:0/3:1/4-6:2", Specification, Ok("x 40")),
    (PDNN, "partition=1000m", Specification, Ok("478 samples")),
    (PDNN, "stream=True", Specification, Ok("478 samples")),
    (PDNN, "stream=False", Specification, Ok("478 samples")),
    (PDNN, "random=True", Specification, Ok("478 samples")),
    (PDNN, "0 0 [0.2", Sentences, Ok("\"keys\":[\"0\",\"0\",\"1\"]")),
    (PDNN, "utt01 train.ark", Line, Ok("1 sequence, 60 samples")),
    (PDNN, "utt01 0 51", Line, Ok("1 sequence, 18 samples")),
    (PDNN, "> import cPickle, numpy, gzip > with", Other, Err("a session of Python 2")),
    (PDNN, "> import cPickle, numpy, gzip > feature", Other, Err("a session of Python 2")),
];

/// Why code in C++ is not run.
const CODE: Result<&str, &str> = Err("code for Kaldi's own library");
