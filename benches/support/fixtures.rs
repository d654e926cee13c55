//! The fixtures of `tests/data/fixtures.json`, generated exactly as described there.
//!
//! ```text
//! ids        prefix x 'p' | record number, 8 bytes big-endian | tail x (0x5a ^ low byte) [| 3 bits]
//! fragments  0, 00, 000, ... one unit longer each time, then branches 0..01 getting shorter
//! values     bit j of record i is one unless (i + j) mod 3 = 0
//! older      records with i mod 3 in {0, 2}; those in both have their first value bit inverted
//! newer      records with i mod 3 in {1, 2}
//! ```

use tephra_sstable::{Bit, BitStr, Byte, Policy, Unit};

/// A unit whose strings a fixture can make from packed bytes.
pub trait FixtureUnit: Unit {
    /// The string of the first `units` units of `bytes`.
    fn string(bytes: &[u8], units: u64) -> Self::Str<'_>;
}

impl FixtureUnit for Byte {
    fn string(bytes: &[u8], units: u64) -> &[u8] {
        &bytes[..usize::try_from(units).expect("fixtures are small")]
    }
}

impl FixtureUnit for Bit {
    fn string(bytes: &[u8], units: u64) -> BitStr<'_> {
        BitStr::new(bytes, 0, units).expect("a record's bytes hold its units")
    }
}

/// The four policies of the fixtures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyName {
    /// Bytes, values of 8 bytes.
    ByteFixed,
    /// Bytes, values of 8 to 24 bytes.
    ByteVariable,
    /// Bits, values of 13 bits.
    BitFixed,
    /// Bits, values of 8 to 24 bits.
    BitVariable,
}

impl PolicyName {
    /// All four, in the order of the tables.
    pub const ALL: [Self; 4] = [
        Self::ByteFixed,
        Self::ByteVariable,
        Self::BitFixed,
        Self::BitVariable,
    ];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::ByteFixed => "byte_fixed",
            Self::ByteVariable => "byte_variable",
            Self::BitFixed => "bit_fixed",
            Self::BitVariable => "bit_variable",
        }
    }

    /// The policy itself.
    pub fn policy(self) -> Policy {
        match self {
            Self::ByteFixed => Policy::byte_fixed(8),
            Self::ByteVariable => Policy::byte_variable(),
            Self::BitFixed => Policy::bit_fixed(13),
            Self::BitVariable => Policy::bit_variable(),
        }
    }

    /// Whether lengths count bits.
    pub fn is_bit(self) -> bool {
        matches!(self, Self::BitFixed | Self::BitVariable)
    }

    fn value_units(self, record: u64) -> u64 {
        match self {
            Self::ByteFixed => 8,
            Self::BitFixed => 13,
            Self::ByteVariable | Self::BitVariable => 8 + record % 17,
        }
    }
}

/// One record: packed bytes, most significant bit first, unused low bits zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Key bytes.
    pub key: Vec<u8>,
    /// Key length in units.
    pub key_units: u64,
    /// Value bytes.
    pub value: Vec<u8>,
    /// Value length in units.
    pub value_units: u64,
}

impl Record {
    /// Key and value as the unit's strings.
    pub fn strings<U: FixtureUnit>(&self) -> (U::Str<'_>, U::Str<'_>) {
        (
            U::string(&self.key, self.key_units),
            U::string(&self.value, self.value_units),
        )
    }
}

/// What a fixture measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixtureKind {
    /// Two inputs merged.
    Merge,
    /// One stream written.
    Writer,
}

/// The published facts of one stream, by field name.
pub type StreamFacts = serde_json::Map<String, serde_json::Value>;

/// One fixture with its published facts.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// Merge or writer.
    pub kind: FixtureKind,
    /// Policy of all its streams.
    pub policy: PolicyName,
    /// `ids` or `fragments`.
    pub shape: String,
    /// Original records, which are the distinct output keys.
    pub records: u64,
    /// Shared prefix in bytes.
    pub prefix: u64,
    /// Changing tail in bytes.
    pub tail: u64,
    /// Facts of `older`, `newer` and `output`; the first two only for merges.
    pub facts: serde_json::Map<String, serde_json::Value>,
}

impl Fixture {
    /// All 44 fixtures, in file order.
    pub fn all() -> Vec<Self> {
        let file: serde_json::Value = serde_json::from_str(include_str!("../../tests/data/fixtures.json"))
            .expect("the fixtures file is part of the source tree");
        let list = file["fixtures"]
            .as_array()
            .expect("the file holds a list of fixtures");
        list.iter().map(Self::from_json).collect()
    }

    fn from_json(json: &serde_json::Value) -> Self {
        let text = |name: &str| json[name].as_str().expect("a text field").to_owned();
        let number = |name: &str| json[name].as_u64().expect("a number field");
        let policy = text("policy");
        Self {
            kind: if text("kind") == "merge" {
                FixtureKind::Merge
            } else {
                FixtureKind::Writer
            },
            policy: *PolicyName::ALL
                .iter()
                .find(|name| name.name() == policy)
                .expect("a known policy"),
            shape: text("fixture"),
            records: number("records"),
            prefix: number("prefix"),
            tail: number("tail"),
            facts: json.as_object().expect("a fixture is an object").clone(),
        }
    }

    /// A label for `--filter`: policy, shape, records, prefix and tail.
    pub fn label(&self) -> String {
        let Self {
            shape,
            records,
            prefix,
            tail,
            ..
        } = self;
        format!("{} {shape} {records} p{prefix} t{tail}", self.policy.name())
    }

    /// The original records: the merged output, and the input of a writer.
    pub fn output(&self) -> Vec<Record> {
        (0..self.records).map(|record| self.record(record)).collect()
    }

    /// The older input of a merge.
    pub fn older(&self) -> Vec<Record> {
        let wanted = (0..self.records).filter(|record| record % 3 != 1);
        wanted
            .map(|number| {
                let mut record = self.record(number);
                if number % 3 == 2 {
                    record.value[0] ^= 0x80;
                }
                record
            })
            .collect()
    }

    /// The newer input of a merge.
    pub fn newer(&self) -> Vec<Record> {
        (0..self.records)
            .filter(|record| record % 3 != 0)
            .map(|record| self.record(record))
            .collect()
    }

    fn record(&self, number: u64) -> Record {
        let (key, key_units) = if self.shape == "fragments" {
            self.fragment_key(number)
        } else {
            self.id_key(number)
        };
        let value_units = self.policy.value_units(number);
        let value_bits = if self.policy.is_bit() {
            value_units
        } else {
            8 * value_units
        };
        let mut value = vec![0; to_usize(value_bits.div_ceil(8))];
        for bit in (0..value_bits).filter(|bit| !(number + bit).is_multiple_of(3)) {
            set_bit(&mut value, bit);
        }
        Record {
            key,
            key_units,
            value,
            value_units,
        }
    }

    fn id_key(&self, number: u64) -> (Vec<u8>, u64) {
        let mut key = vec![b'p'; to_usize(self.prefix)];
        key.extend_from_slice(&number.to_be_bytes());
        let low_byte = number.to_le_bytes()[0];
        key.resize(key.len() + to_usize(self.tail), 0x5a ^ low_byte);
        let mut units = key.len() as u64;
        if self.policy.is_bit() {
            key.push(if number & 1 == 1 { 0b1010_0000 } else { 0b0100_0000 });
            units = units * 8 + 3;
        }
        (key, units)
    }

    fn fragment_key(&self, number: u64) -> (Vec<u8>, u64) {
        let depth = self.records.div_ceil(2);
        let units = if number < depth {
            number + 1
        } else {
            self.records - number
        };
        let bits = if self.policy.is_bit() { units } else { 8 * units };
        let mut key = vec![0; to_usize(bits.div_ceil(8))];
        if number >= depth {
            set_bit(&mut key, bits - 1);
        }
        (key, units)
    }
}

fn set_bit(bytes: &mut [u8], bit: u64) {
    bytes[to_usize(bit / 8)] |= 0x80 >> (bit % 8);
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).expect("fixtures fit in memory")
}
