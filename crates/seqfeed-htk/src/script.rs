//! Script files: which parameter files a corpus has, and which parts of them.
