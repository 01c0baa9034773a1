//! Lists of states, which give labels their numbers.
