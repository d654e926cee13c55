//! The shape of the levels as the picker sees them: plain data, made from a version.

/// One table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableShape {
    /// File number; never reused.
    pub file_number: u64,
    /// First key, packed bytes.
    pub first_key: Vec<u8>,
    /// Last key, packed bytes.
    pub last_key: Vec<u8>,
    /// Length of the file.
    pub len_bytes: u64,
    /// Records that are alive.
    pub live: u64,
    /// Records that are marked dead beside the table.
    pub dead: u64,
}

impl TableShape {
    /// Whether the key ranges touch; equal bounds do.
    pub fn overlaps(&self, first_key: &[u8], last_key: &[u8]) -> bool {
        self.first_key.as_slice() <= last_key && first_key <= self.last_key.as_slice()
    }

    /// Dead records in a hundred; 100 for a table without records.
    pub fn dead_percent(&self) -> u64 {
        let total = self.live.saturating_add(self.dead);
        if total == 0 {
            100
        } else {
            u64::try_from(u128::from(self.dead) * 100 / u128::from(total)).unwrap_or(100)
        }
    }

    /// Bytes that the dead records take, by their share of the records.
    pub fn dead_bytes(&self) -> u64 {
        let total = self.live.saturating_add(self.dead).max(1);
        u64::try_from(u128::from(self.len_bytes) * u128::from(self.dead) / u128::from(total))
            .unwrap_or(u64::MAX)
    }
}

/// One level. Level 0 lists its tables oldest first; other levels by key, without overlaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelView {
    /// Number of the level; greater is older.
    pub level: u32,
    /// Its tables.
    pub tables: Vec<TableShape>,
}

impl LevelView {
    /// Bytes of all tables.
    pub fn len_bytes(&self) -> u64 {
        self.tables.iter().map(|table| table.len_bytes).sum()
    }

    /// Tables that touch a key range, in the level's order. Below level 0 a binary search finds the first of them.
    pub fn overlapping<'a>(
        &'a self,
        first_key: &'a [u8],
        last_key: &'a [u8],
    ) -> impl Iterator<Item = &'a TableShape> {
        let is_run = self.level > 0;
        let from = if is_run {
            self.tables
                .partition_point(|table| table.last_key.as_slice() < first_key)
        } else {
            0
        };
        self.tables[from..]
            .iter()
            .take_while(move |table| !is_run || table.first_key.as_slice() <= last_key)
            .filter(move |table| table.overlaps(first_key, last_key))
    }
}
