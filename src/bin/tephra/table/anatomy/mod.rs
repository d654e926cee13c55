//! `tephra table anatomy`: the bytes of one block, each with its meaning, and the arithmetic that finds the block.
//!
//! ```text
//! table ── dissect ──> Specimen ──> text.rs      for people, at most 100 columns
//!              │           └──────> json.rs      the same facts
//!              └── directory.rs     the entry that leads to the block
//! ```

mod directory;
mod dissect;
mod json;
mod text;

use std::io::Write;

use tephradb::tables::Unit;

use super::paint::Paint;
use super::{Anatomy, OpenTable};
use crate::failure::{Failure, Result};

pub(super) fn run<U: Unit>(table: &OpenTable<U>, args: &Anatomy, out: &mut dyn Write) -> Result<()> {
    let specimen = dissect::dissect(table, &args.file, args.block)?;
    let text = if args.json {
        json::render::<U>(&specimen)
    } else {
        text::render::<U>(&specimen, Paint::of_stdout())
    };
    out.write_all(text.as_bytes()).map_err(Failure::Output)
}
