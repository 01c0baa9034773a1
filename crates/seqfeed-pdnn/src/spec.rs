//! PDNN's data specifications: `train.pfile,context=5,ignore-label=0`.
