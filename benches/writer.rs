//! The native writer: what reusing the previous key's buffer saves.
//!
//! ```text
//! cargo bench --bench writer -- [--json] [--quick] [--filter TEXT] [--rounds N]
//!
//! copied    a fresh owned copy of the key at every append; frames by the same fast assembly
//! reused    the native writer: one buffer, only the changed suffix is copied
//! batch     the batch encoder, which borrows all keys and keeps none
//! floor     at a prefix of 4,096: only the comparison with the key before and a copy of what differs, no frames
//! cached    at a prefix of 4,096: the native writer over the same 64 records again and again, whose keys stay in cache
//! ```
//!
//! Twelve cases: four policies, shared prefixes of 0, 64 and 4,096 bytes, 16,384 records. The fixture's lengths,
//! checksums and literal totals are reproduced before anything is timed. The timer covers all appends, the growth of
//! the output, `finish` with its directory, and dropping the writer; every result is compared with the batch encoding
//! (payload, metadata, every word of the directory) outside of it.
//!
//! Two rows a variant: `ns_per_key` as measured, and `calibrated_ns_per_key`, which is that times 0.350 over the time
//! of a dependent addition: the figure to compare between machines.
//!
//! The copying variant shares the assembly, the comparison and the directory with the native writer, so what is
//! measured is the copy and nothing else; at short keys that is a harder baseline than a slow writer would be.
//!
//! # What the figures are made of
//!
//! | prefix | what takes the time |
//! |---|---|
//! | 0 | 146 instructions an append of bytes (callgrind, with its share of blocks), hardly a branch that cannot be foretold |
//! | 64 | the same, and 73 instructions to find where 64 agreeing bytes end; and a cache line more of each key, which is read once. |
//! | 4,096 | the keys: 4 KiB a record come from memory once. `reused` stays within a tenth of `floor`; keys in cache bring it from 650 ns of processor time to 143 |

mod support;

use support::Args;
use support::digest::checked_stream;
use support::fixtures::{Fixture, FixtureKind, FixtureUnit, PolicyName, Record};
use support::report::{Report, Row, remark};
use support::timing::{Spread, Variant, alternate, calibrate_add_ns};
use tephra_sstable::writer::NativeWriter;
use tephra_sstable::{Bit, Byte, EncodedStream, FrameWriter, Policy, Unit, encode_batch};

/// The time of one dependent addition on the machine that calibrated times refer to.
const ADD_NS_REFERENCE: f64 = 0.350;

/// The prefix at which reading the keys is most of the time.
const LONG_PREFIX: u64 = 4096;
/// Records of `cached`: 256 KiB of keys.
const CACHED_RECORDS: usize = 64;

fn main() {
    let args = Args::from_env();
    let add_ns = calibrate_add_ns();
    let mut report = Report::new(args.json, add_ns);
    let fixtures = Fixture::all()
        .into_iter()
        .filter(|fixture| fixture.kind == FixtureKind::Writer);
    for fixture in fixtures.filter(|fixture| args.wants(&fixture.label())) {
        let spreads = match fixture.policy {
            PolicyName::ByteFixed | PolicyName::ByteVariable => measure::<Byte>(&fixture, args.rounds()),
            PolicyName::BitFixed | PolicyName::BitVariable => measure::<Bit>(&fixture, args.rounds()),
        };
        print(&mut report, &fixture, add_ns, &spreads);
    }
}

/// Times the three variants of one case in turn.
fn measure<U: FixtureUnit>(fixture: &Fixture, rounds: usize) -> Measured {
    let records = fixture.output();
    let expected = checked_stream::<U>(fixture, "output", &records);
    let strings: Vec<_> = records.iter().map(Record::strings::<U>).collect();
    let (policy, width) = (fixture.policy.policy(), expected.meta.common_width);
    let mut variants = vec![
        Variant::new("copied", || {
            Written::Stream(Box::new(write_copying::<U>(policy, width, &strings)))
        }),
        Variant::new("reused", || {
            Written::Stream(Box::new(write_reusing::<U>(policy, width, &strings)))
        }),
        Variant::new("batch", || {
            Written::Stream(Box::new(
                encode_batch::<U>(policy, &strings).expect("fixtures are sorted"),
            ))
        }),
    ];
    if fixture.prefix == LONG_PREFIX {
        variants.push(Variant::new("floor", || {
            Written::Units(compare_and_copy::<U>(&strings))
        }));
        variants.push(Variant::new("cached", || {
            let again = strings.len() / CACHED_RECORDS;
            let cached = &strings[..CACHED_RECORDS];
            let streams = (0..again).map(|_| write_reusing::<U>(policy, width, cached).meta.extent_units);
            Written::Units(streams.sum())
        }));
    }
    let literal_units = compare_and_copy::<U>(&strings);
    let cached = write_reusing::<U>(policy, width, &strings[..CACHED_RECORDS.min(strings.len())]);
    let cached_units = cached.meta.extent_units * (strings.len() / CACHED_RECORDS) as u64;
    let names: Vec<_> = variants.iter().map(|variant| variant.name).collect();
    let spreads = alternate(&mut variants, rounds, |variant, written| {
        let right = match (names[variant], written) {
            ("floor", Written::Units(units)) => *units == literal_units,
            ("cached", Written::Units(units)) => *units == cached_units,
            (_, Written::Stream(stream)) => **stream == expected,
            _ => false,
        };
        assert!(
            right,
            "{}: {} differs from the batch encoding",
            fixture.label(),
            names[variant]
        );
    });
    Measured {
        variants: names.into_iter().zip(spreads).collect(),
        payload_len_bytes: expected.payload.len() as u64,
        payload_crc32: crc32fast::hash(&expected.payload),
    }
}

/// What a variant gives, to be checked outside the timer.
enum Written {
    Stream(Box<EncodedStream>),
    /// Units of literals, or of several streams.
    Units(u64),
}

/// The spreads of one case, and what its output is.
struct Measured {
    variants: Vec<(&'static str, Spread)>,
    payload_len_bytes: u64,
    payload_crc32: u32,
}

/// What no writer can leave out: finding where neighbouring keys differ, and copying the rest. Units copied.
fn compare_and_copy<U: Unit>(records: &[(U::Str<'_>, U::Str<'_>)]) -> u64 {
    let (mut out, mut previous) = (U::Owned::default(), U::Str::default());
    for &(key, _) in records {
        let (retained, _) = U::order(previous, key);
        U::push(&mut out, U::slice(key, retained, U::len(key)));
        previous = key;
    }
    U::owned_len(&out)
}

/// The baseline: the whole key is copied into a fresh string at every append.
fn write_copying<U: Unit>(
    policy: Policy,
    common_width: Option<u64>,
    records: &[(U::Str<'_>, U::Str<'_>)],
) -> EncodedStream {
    let mut frames = FrameWriter::<U>::new(policy, common_width).expect("the fixture's policy");
    let mut previous = U::Owned::default();
    for &(key, value) in records {
        let retained = U::lcp(U::as_str(&previous), key);
        let unit = U::get(key, retained);
        assert!(
            U::get(U::as_str(&previous), retained) < unit,
            "fixtures are sorted"
        );
        frames
            .append(retained, U::suffix(key, retained), U::suffix(value, 0))
            .expect("memory");
        let mut copy = U::Owned::default();
        U::try_reserve(&mut copy, U::len(key)).expect("memory");
        U::push(&mut copy, key);
        previous = copy;
    }
    frames.finish().expect("memory")
}

/// The native writer.
fn write_reusing<U: Unit>(
    policy: Policy,
    common_width: Option<u64>,
    records: &[(U::Str<'_>, U::Str<'_>)],
) -> EncodedStream {
    let mut writer = NativeWriter::<U>::new(policy, common_width).expect("the fixture's policy");
    for &(key, value) in records {
        writer.append(key, value).expect("fixtures are sorted");
    }
    writer.finish().expect("memory")
}

/// Two rows a variant, and on standard error the change from copied to reused.
fn print(report: &mut Report, fixture: &Fixture, add_ns: f64, measured: &Measured) {
    #[expect(clippy::cast_precision_loss, reason = "a count of records")]
    let records = fixture.records as f64;
    for &(variant, spread) in &measured.variants {
        for (metric, factor) in [
            ("ns_per_key", 1.0 / records),
            ("calibrated_ns_per_key", ADD_NS_REFERENCE / add_ns / records),
        ] {
            report.row(&Row {
                bench: "writer",
                fixture: fixture.shape.clone(),
                policy: fixture.policy.name(),
                records: fixture.records,
                prefix: fixture.prefix,
                tail: fixture.tail,
                variant,
                metric,
                spread: spread.scaled(factor),
                output_payload_bytes: Some(measured.payload_len_bytes),
                output_payload_crc32: Some(measured.payload_crc32),
                extra: Vec::new(),
            });
        }
    }
    if let [(_, copied), (_, reused), ..] = measured.variants[..] {
        let change = 100.0 * (reused.median / copied.median - 1.0);
        remark(&format!(
            "{}: reused against copied {change:+.1} %",
            fixture.label()
        ));
    }
}
