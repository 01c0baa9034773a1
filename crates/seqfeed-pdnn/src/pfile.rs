//! PFiles: the archives of ICSI's QuickNet.
