//! `tephra demo`: the whole store on real data, every answer compared with a plain sorted map.
//!
//! ```text
//! file ──lines──> database      in the file's order, memtables small enough for at least six flushed tables
//!      └────────> model         the same records in a BTreeMap; every answer must be the model's
//! ```
//!
//! * `setting`: where data and database are.
//! * `steps`: the story, one function a step.
//! * `page`: what the reader sees, and the checks: a claim that does not hold ends the demo with exit code 1.

mod page;
mod setting;
mod steps;

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::escape::shown;
use crate::failure::Result;
use page::Page;
use setting::Setting;
use steps::Story;

#[derive(Debug, ClapArgs)]
pub(crate) struct Demo {
    /// Directory of the demo's database; must not exist, or be empty; it stays [default: a temporary one, which goes]
    #[arg(long, value_name = "DIR")]
    pub(crate) db: Option<PathBuf>,
    /// Leave the temporary database to look at
    #[arg(long)]
    pub(crate) keep: bool,
    /// File of names, KEY TAB VALUE [default: data/unicode-names.tsv here or in the source tree]
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
}

pub(crate) fn run(args: &Demo, out: &mut dyn Write) -> Result<()> {
    let setting = Setting::find(args)?;
    let mut page = Page::new(out);
    page.line("tephra demo")?;
    page.line(&format!("  data      {}", shown(&setting.data)))?;
    page.line(&format!("  database  {}", shown(&setting.db)))?;
    let mut story = Story::begin(setting, &mut page)?;
    story.load(&mut page)?;
    story.merge(&mut page)?;
    story.look_up(&mut page)?;
    story.prefix_range(&mut page)?;
    story.reverse_range(&mut page)?;
    story.change(&mut page)?;
    story.merge_changes(&mut page)?;
    story.reopen(&mut page)?;
    story.verify(&mut page)?;
    story.sizes(&mut page)?;
    story.end(&mut page)
}
