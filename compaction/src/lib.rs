//! The encoded merger: merges front-coded tables without rebuilding keys.
