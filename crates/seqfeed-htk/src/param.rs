//! Parameter files: features, waveforms and symbols with HTK's 12-byte header.
