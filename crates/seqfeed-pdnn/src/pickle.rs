//! Pickled numpy arrays.
