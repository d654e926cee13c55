//! Format 2: front-coded, immutable, sorted tables with Elias-Fano directories.
