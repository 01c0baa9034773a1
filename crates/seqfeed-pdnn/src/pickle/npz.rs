//! numpy's `.npz` files: ZIP archives of `.npy` files.
