//! Writes the tables of `docs/format-by-example.md`: `cargo run --example format_by_example -- DIRECTORY`.
//!
//! ```text
//! words.table   six words in two blocks of three, values of any length
//! bits.table    four strings of bits in two blocks of two
//! ```
//!
//! Then `tephra table anatomy DIRECTORY/words.table --block 1` prints what the document shows.

#![expect(clippy::print_stdout, reason = "says where the tables are")]
#![expect(clippy::disallowed_methods, reason = "an example that writes files")]

use std::error::Error;
use std::num::NonZeroU32;
use std::path::Path;

use tephra_sstable::{Bit, BitString, Policy, TableOptions, TableWriter};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Six words.
const WORDS: [(&str, &str); 6] = [
    ("lapilli", "2 to 64 mm"),
    ("lava", "molten"),
    ("lava dome", "steep"),
    ("lava tube", "hollow"),
    ("magma", "below"),
    ("maar", "a crater"),
];

/// Four strings of bits, with values of bits.
const BITS: [(&str, &str); 4] = [("0001", "1"), ("00010110", "01"), ("0010", ""), ("1", "1110")];

fn main() -> Outcome<()> {
    let directory = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory)?;
    for (name, table) in [("words.table", words_table()?), ("bits.table", bits_table()?)] {
        let path = directory.join(name);
        std::fs::write(&path, &table)?;
        println!("{}: {} bytes", path.display(), table.len());
    }
    Ok(())
}

fn options(policy: Policy, records_per_block: u32, table_id: u64) -> Outcome<TableOptions> {
    let records_per_block = NonZeroU32::new(records_per_block).ok_or("blocks hold a record at least")?;
    Ok(TableOptions::new(
        Policy {
            records_per_block,
            ..policy
        },
        table_id,
    ))
}

/// The bytes of `words.table`.
pub(crate) fn words_table() -> Outcome<Vec<u8>> {
    let mut writer = TableWriter::<_>::new(Vec::new(), options(Policy::byte_variable(), 3, 1)?)?;
    let mut words = WORDS;
    words.sort_unstable();
    for (key, value) in words {
        writer.append(key.as_bytes(), value.as_bytes())?;
    }
    Ok(writer.finish()?.0)
}

/// The bytes of `bits.table`.
pub(crate) fn bits_table() -> Outcome<Vec<u8>> {
    let mut writer = TableWriter::<_, Bit>::new(Vec::new(), options(Policy::bit_variable(), 2, 2)?)?;
    for (key, value) in BITS {
        let (key, value) = (bits_of(key), bits_of(value));
        writer.append(key.as_str(), value.as_str())?;
    }
    Ok(writer.finish()?.0)
}

fn bits_of(text: &str) -> BitString {
    let mut bits = BitString::new();
    for digit in text.bytes() {
        bits.push_bits(u64::from(digit == b'1'), 1);
    }
    bits
}
