//! How much each level should hold.

use super::view::LevelView;

/// What the picker is told once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PickerOptions {
    /// Tables in level 0 that start a compaction.
    pub level_zero_trigger: usize,
    /// How many times larger each level is than the one above.
    pub size_ratio: u64,
    /// Smallest target of a level below level 0 that is worth having.
    pub base_level_bytes: u64,
    /// Number of the bottom level.
    pub bottom_level: u32,
    /// Dead records in a hundred that make a table worth rewriting by itself.
    pub dead_rich_percent: u64,
    /// Size at which the output of a merge is cut into tables.
    pub target_table_bytes: u64,
    /// Bytes of one level's tables after which a job that a user asked for takes no further one, so that it ends, or can be ended,
    /// step by step.
    pub manual_job_bytes: u64,
}

impl Default for PickerOptions {
    fn default() -> Self {
        Self {
            level_zero_trigger: 4,
            size_ratio: 10,
            base_level_bytes: 256 << 20,
            bottom_level: 6,
            dead_rich_percent: 30,
            target_table_bytes: 64 << 20,
            manual_job_bytes: 1 << 30,
        }
    }
}

/// Targets of all levels, derived from what the bottom holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelTargets {
    /// Where level 0 is merged into.
    pub base_level: u32,
    /// Target of each level from the base level to the bottom, in bytes.
    pub bytes: Vec<u64>,
}

impl LevelTargets {
    /// Derives the targets.
    ///
    /// The largest level's size stands for the bottom, so that a bottom that has just lost data does not
    /// make every level above it too large. A level that still holds tables is never above the base
    /// level: the base level moves up only as data asks for it, and down when a level runs empty.
    pub fn derive(levels: &[LevelView], options: &PickerOptions) -> Self {
        let below_zero = || {
            levels
                .iter()
                .filter(|view| view.level > 0 && !view.tables.is_empty())
        };
        let largest_bytes = below_zero().map(LevelView::len_bytes).max().unwrap_or(0);
        let mut targets = vec![largest_bytes.max(options.base_level_bytes)];
        let mut base_level = options.bottom_level.max(1);
        while base_level > 1 && targets[0] / options.size_ratio.max(2) >= options.base_level_bytes {
            targets.insert(0, targets[0] / options.size_ratio.max(2));
            base_level -= 1;
        }
        let highest_used = below_zero().map(|view| view.level).min().unwrap_or(base_level);
        while base_level > highest_used {
            // Tables wait above the base level: a target of nothing pushes them down.
            targets.insert(0, 0);
            base_level -= 1;
        }
        Self {
            base_level,
            bytes: targets,
        }
    }

    /// Target of a level; level 0 and levels above the base have none.
    pub fn of(&self, level: u32) -> Option<u64> {
        let index = level.checked_sub(self.base_level)?;
        self.bytes.get(usize::try_from(index).ok()?).copied()
    }
}
