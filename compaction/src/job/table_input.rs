//! Tables as inputs of a merge.

use std::fmt;

use tephra_sstable::ordinal_bitmap::OrdinalBitmap;
use tephra_sstable::{Table, TableError, Unit};

use crate::merge::{BlockPrefixes, MergeInput, PrefixError, Trust};

/// A table with the records that are dead in it. Certified if its properties say so; verifies the checksums of all
/// payload pages that have not been touched before, since a certificate is worth nothing without them.
///
/// # Errors
/// A damaged page.
pub fn table_input<'a, B, U>(
    table: &'a Table<B, U>,
    dead: Option<&'a OrdinalBitmap>,
) -> Result<MergeInput<'a, U>, TableError>
where
    B: AsRef<[u8]> + Send + Sync + fmt::Debug,
    U: Unit,
{
    table.verify_payload()?;
    let is_certified = table.properties().ordinary_front_coding;
    let trust = if is_certified {
        Trust::Certified
    } else {
        Trust::Validating
    };
    Ok(MergeInput {
        stream: table.encoded()?,
        trust,
        dead,
        ordinals: None,
        prefixes: Some(table),
    })
}

impl<B, U> BlockPrefixes<U> for Table<B, U>
where
    B: AsRef<[u8]> + Send + Sync + fmt::Debug,
    U: Unit,
{
    fn append_prefix(&self, block: u64, units: u64, prefix: &mut U::Owned) -> Result<(), PrefixError> {
        let ordinal = block.saturating_mul(self.meta().policy.records_per_block.get().into());
        let mut cursor = self.cursor();
        if cursor.seek_ordinal(ordinal)? {
            let key = cursor.key();
            U::push(prefix, U::slice(key, 0, units.min(U::len(key))));
        }
        Ok(())
    }
}
