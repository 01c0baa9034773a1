//! Label files and master label files (MLFs).
