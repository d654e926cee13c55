//! Golden encodings: reading a case, and checking it in both directions, field by field.
//!
//! ```text
//! one line = one case:  policy, records  <->  metadata, payload, directory
//!
//! encode    batch cases: batch encoder, and the native writer told the width; writer cases: the native writer
//!           redundant cases: the encoding is not ours, so only the records are taken
//! decode    both strict cursors over the case's own bytes; the records come back; the directory validates
//! re-encode what was decoded: ordinary front coding, whatever the case had
//! ```

use serde_json::Value;
use tephra_sstable::elias_fano::{EliasFano, EliasFanoView, Sample};
use tephra_sstable::writer::NativeWriter;
use tephra_sstable::{
    BackspaceCode, Bit, Byte, EncodedCursor, EncodedStream, EncodedView, KeyCursor, Policy, StreamMeta, Unit,
    UnitKind, ValueLayout, encode_batch,
};

/// One case as it is written.
struct Case {
    records: Vec<(Text, Text)>,
    stream: EncodedStream,
    redundant: bool,
    batch: bool,
}

/// A string as bytes and bits.
struct Text {
    bytes: Vec<u8>,
    bits: u64,
}

impl Text {
    fn units<U: Unit>(&self) -> Result<U::Str<'_>, String> {
        let whole = self.bits.is_multiple_of(U::BITS);
        let string = U::string_at(&self.bytes, 0, self.bits / U::BITS).filter(|_| whole);
        string.ok_or_else(|| {
            format!(
                "{} bits are no string of these units in {} bytes",
                self.bits,
                self.bytes.len()
            )
        })
    }
}

/// Checks one line. The error says what differs.
pub(crate) fn check_line(line: &str) -> Result<(), String> {
    let case = parse(line)?;
    match case.stream.meta.policy.unit {
        UnitKind::Byte => check::<Byte>(&case),
        UnitKind::Bit => check::<Bit>(&case),
    }
}

/// The name of the case in a line, for messages.
pub(crate) fn name(line: &str) -> String {
    let name = serde_json::from_str::<Value>(line)
        .ok()
        .and_then(|case| case["name"].as_str().map(str::to_owned));
    name.unwrap_or_else(|| "(no name)".to_owned())
}

fn check<U: Unit>(case: &Case) -> Result<(), String> {
    let records: Vec<(U::Str<'_>, U::Str<'_>)> = case
        .records
        .iter()
        .map(|(key, value)| Ok((key.units::<U>()?, value.units::<U>()?)))
        .collect::<Result<_, String>>()?;
    decode::<U>(case, &records)?;
    let ordinary = encode_batch::<U>(case.stream.meta.policy, &records).map_err(|error| error.to_string())?;
    let written = write::<U>(case.stream.meta, &records)?;
    if case.redundant {
        differences(
            "re-encoded by the batch encoder and the native writer",
            &ordinary,
            &written,
        )
    } else if case.batch {
        differences("batch encoder", &case.stream, &ordinary)?;
        differences("native writer", &case.stream, &written)
    } else {
        differences("native writer", &case.stream, &written)
    }
}

/// Appends all records to a native writer that is told the case's common width.
fn write<U: Unit>(meta: StreamMeta, records: &[(U::Str<'_>, U::Str<'_>)]) -> Result<EncodedStream, String> {
    let mut writer =
        NativeWriter::<U>::new(meta.policy, meta.common_width).map_err(|error| error.to_string())?;
    for &(key, value) in records {
        writer
            .append(key, value)
            .map_err(|error| format!("native writer: {error}"))?;
    }
    writer.finish().map_err(|error| error.to_string())
}

/// Reads the case's own bytes back by both cursors.
fn decode<U: Unit>(case: &Case, records: &[(U::Str<'_>, U::Str<'_>)]) -> Result<(), String> {
    // A file may hold any words, so the directory is read as if it came from a disk.
    let mut directory = Vec::new();
    case.stream
        .directory
        .write_to(&mut directory)
        .map_err(|error| error.to_string())?;
    let directory = EliasFanoView::parse(&directory).map_err(|error| format!("directory: {error}"))?;
    let (meta, payload) = (case.stream.meta, &case.stream.payload[..]);
    let stream = EncodedView {
        meta,
        payload,
        readable: payload,
        directory,
    };
    stream
        .directory
        .validate()
        .map_err(|error| format!("directory: {error}"))?;
    let mut frames = EncodedCursor::<U>::new(stream).map_err(|error| error.to_string())?;
    let mut keys = KeyCursor::<U>::new(stream).map_err(|error| error.to_string())?;
    for (ordinal, &(key, value)) in records.iter().enumerate() {
        let frame = frames
            .next()
            .map_err(|error| format!("record {ordinal}: {error}"))?;
        if !keys
            .next()
            .map_err(|error| format!("record {ordinal}: {error}"))?
        {
            return Err(format!("record {ordinal}: the stream ends"));
        }
        if U::compare(keys.key(), key).is_ne() || U::compare(keys.value(), value).is_ne() {
            let (found_key, found_value) = (show::<U>(keys.key()), show::<U>(keys.value()));
            let expected = format!("expected {key:?} -> {value:?}");
            return Err(format!(
                "record {ordinal}: {expected}, found {found_key} -> {found_value}"
            ));
        }
        if frame.as_ref() != keys.frame() {
            return Err(format!(
                "record {ordinal}: frames differ: {frame:?}, {:?}",
                keys.frame()
            ));
        }
        let retained = frame.map_or(0, |frame| frame.retained);
        if !case.redundant && retained != keys.lcp_with_previous() {
            return Err(format!(
                "record {ordinal}: retains {retained}, shares {}",
                keys.lcp_with_previous()
            ));
        }
    }
    match (frames.next(), keys.next()) {
        (Ok(None), Ok(false)) => Ok(()),
        (frame, more) => Err(format!("behind the last record: {frame:?}, {more:?}")),
    }
}

fn show<U: Unit>(string: U::Str<'_>) -> String {
    format!("{string:?}")
}

/// Compares two streams field by field and says which field differs and how.
fn differences(what: &str, expected: &EncodedStream, found: &EncodedStream) -> Result<(), String> {
    macro_rules! same {
        ($($field:tt)+) => {
            if expected.$($field)+ != found.$($field)+ {
                let (expected, found) = (&expected.$($field)+, &found.$($field)+);
                return Err(format!("{what}: {}: expected {expected:02x?}, found {found:02x?}", stringify!($($field)+)));
            }
        };
    }
    same!(meta.policy);
    same!(meta.record_count);
    same!(meta.common_width);
    same!(meta.last_key_units);
    same!(meta.extent_units);
    same!(payload);
    same!(directory.entries);
    same!(directory.universe);
    same!(directory.low_width);
    same!(directory.low);
    same!(directory.high);
    same!(directory.samples);
    same!(directory.sparse);
    Ok(())
}

fn parse(line: &str) -> Result<Case, String> {
    let case: Value = serde_json::from_str(line).map_err(|error| format!("not a case: {error}"))?;
    let unit = match text(&case, "unit")? {
        "byte" => UnitKind::Byte,
        "bit" => UnitKind::Bit,
        other => return Err(format!("unit: expected byte or bit, found {other}")),
    };
    let parameter = number(&case["backspace"], "parameter")?;
    let backspace = match text(&case["backspace"], "code")? {
        "exp_golomb" => BackspaceCode::ExpGolomb {
            order: narrow(parameter, "order")?,
        },
        "golomb" => BackspaceCode::Golomb { modulus: parameter },
        other => return Err(format!("backspace code: found {other}")),
    };
    let policy = Policy {
        unit,
        values: match optional(&case, "value_width")? {
            Some(width_units) => ValueLayout::Fixed { width_units },
            None => ValueLayout::Variable,
        },
        records_per_block: narrow(number(&case, "w")?, "w")?,
        sampling_interval: narrow(number(&case, "k")?, "k")?,
        backspace,
    };
    let meta = StreamMeta {
        policy,
        common_width: optional(&case, "common_value_width")?,
        record_count: number(&case, "record_count")?,
        extent_units: number(&case, "extent")?,
        last_key_units: number(&case, "terminal_key_units")?,
    };
    let records = list(&case, "records")?.iter().map(|record| {
        let part = |hex_name, bits_name| {
            Ok::<Text, String>(Text {
                bytes: hex(text(record, hex_name)?)?,
                bits: number(record, bits_name)?,
            })
        };
        Ok((part("key_hex", "key_bits")?, part("value_hex", "value_bits")?))
    });
    Ok(Case {
        records: records.collect::<Result<_, String>>()?,
        redundant: !case["prefix_ceilings"].is_null() || number(&case, "restart_factor")? != 0,
        batch: text(&case, "encoder")? == "batch",
        stream: EncodedStream {
            meta,
            payload: hex(text(&case, "payload_hex")?)?,
            directory: directory(&case["ef"])?,
        },
    })
}

fn directory(ef: &Value) -> Result<EliasFano, String> {
    let words = |name: &str| -> Result<Vec<u64>, String> {
        let word = |word: &Value| u64::from_str_radix(word.as_str().unwrap_or("none"), 16);
        list(ef, name)?
            .iter()
            .map(word)
            .collect::<Result<_, _>>()
            .map_err(|error| format!("{name}: {error}"))
    };
    let plain = |value: &Value| {
        value
            .as_u64()
            .ok_or_else(|| format!("expected a number, found {value}"))
    };
    let sample = |sample: &Value| {
        Ok(Sample {
            first: plain(&sample[0])?,
            sparse: plain(&sample[1])?,
        })
    };
    Ok(EliasFano {
        entries: number(ef, "entries")?,
        universe: number(ef, "universe")?,
        low_width: narrow(number(ef, "low_width")?, "low_width")?,
        low: words("low")?,
        high: words("high")?,
        samples: list(ef, "samples")?
            .iter()
            .map(sample)
            .collect::<Result<_, String>>()?,
        sparse: list(ef, "sparse")?
            .iter()
            .map(plain)
            .collect::<Result<_, String>>()?,
    })
}

fn text<'a>(case: &'a Value, name: &str) -> Result<&'a str, String> {
    case[name]
        .as_str()
        .ok_or_else(|| format!("{name}: expected text, found {}", case[name]))
}

fn list<'a>(case: &'a Value, name: &str) -> Result<&'a Vec<Value>, String> {
    case[name]
        .as_array()
        .ok_or_else(|| format!("{name}: expected a list, found {}", case[name]))
}

fn number(case: &Value, name: &str) -> Result<u64, String> {
    case[name]
        .as_u64()
        .ok_or_else(|| format!("{name}: expected a number, found {}", case[name]))
}

fn optional(case: &Value, name: &str) -> Result<Option<u64>, String> {
    if case[name].is_null() {
        Ok(None)
    } else {
        number(case, name).map(Some)
    }
}

fn narrow<T: TryFrom<u32>>(n: u64, name: &str) -> Result<T, String> {
    let narrow = u32::try_from(n).ok().and_then(|n| T::try_from(n).ok());
    narrow.ok_or_else(|| format!("{name}: {n} is out of range"))
}

fn hex(digits: &str) -> Result<Vec<u8>, String> {
    let pair = |at: usize| {
        digits
            .get(at..at + 2)
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
    };
    let bytes = (0..digits.len())
        .step_by(2)
        .map(|at| pair(at).ok_or_else(|| format!("not hex at {at}")));
    bytes.collect()
}
