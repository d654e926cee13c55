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

use crate::args;
use crate::failure::Result;
use page::Page;
use setting::Setting;
use steps::Story;

pub(crate) fn run(args: &args::Demo, out: &mut dyn Write) -> Result<()> {
    let setting = Setting::find(args)?;
    let mut page = Page::new(out);
    page.line("tephra demo")?;
    page.line(&format!("  data      {}", setting.data.display()))?;
    page.line(&format!("  database  {}", setting.db.display()))?;
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
