//! Format 2: front-coded, immutable, sorted tables with Elias-Fano directories.

pub mod elias_fano;
pub mod ordinal_bitmap;
