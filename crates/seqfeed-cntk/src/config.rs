//! CNTK's configuration language, and the reader sections written in it.
