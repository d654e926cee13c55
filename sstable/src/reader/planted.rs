//! A fault planted on purpose, in builds with the feature `planted-faults` alone.

use super::Table;
use crate::unit::Unit;

impl<B: AsRef<[u8]> + Send + Sync, U: Unit> Table<B, U> {
    /// Takes all pages that opening has not looked at as checked: what is wrong in them is believed from here on.
    pub fn leave_pages_unchecked(&self) {
        self.pages.take_as_checked();
    }
}
