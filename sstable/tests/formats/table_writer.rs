//! What a table writer refuses, and what is left after it did.

use std::io::{self, Write};

use tephra_sstable::{AppendError, Policy, Table, TableOptions, TableWriteError, TableWriter, encode_batch};
use tephra_sstable::{Byte, write_encoded_table};

/// Takes so many bytes, then fails.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        match taken {
            0 if !bytes.is_empty() => Err(io::Error::other("the disk is full")),
            taken => Ok(taken),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn key(number: u32) -> [u8; 8] {
    u64::from(number).to_be_bytes()
}

fn options() -> TableOptions {
    TableOptions::new(Policy::byte_variable(), 1)
}

/// A record that is refused leaves the table as if it had not been tried.
#[test]
fn refused_records_leave_no_trace() {
    let write = |with_refused: bool| {
        let options = TableOptions {
            common_width: Some(2),
            ..options()
        };
        let mut writer = TableWriter::<_>::new(Vec::new(), options).unwrap();
        for number in 0..100 {
            writer.append(&key(number), b"ab").unwrap();
            if with_refused {
                let same = writer.append(&key(number), b"ab").unwrap_err();
                let expected = u64::from(number) + 1;
                let TableWriteError::Append(AppendError::KeyOrder { ordinal }) = same else {
                    panic!("{same}")
                };
                assert_eq!(ordinal, expected);
                let wide = writer.append(&key(number + 1), b"abc").unwrap_err();
                assert!(
                    matches!(wide, TableWriteError::Append(AppendError::ValueWidth { .. })),
                    "{wide}"
                );
            }
        }
        writer.finish().unwrap()
    };
    assert!(write(true) == write(false));
}

/// Wherever the output ends, the writer says so, keeps saying so, and never gives a summary.
#[test]
fn a_failed_write_poisons_the_writer() {
    let value = [7; 400];
    let whole = {
        let mut writer = TableWriter::<_>::new(Vec::new(), options()).unwrap();
        (0..600).for_each(|number| writer.append(&key(number), &value).unwrap());
        writer.finish().unwrap().0.len()
    };
    let mut failed_in_append = 0;
    for len in (0..whole).step_by(whole / 97).chain([whole - 1]) {
        let mut writer = match TableWriter::<_>::new(Full(len), options()) {
            Ok(writer) => writer,
            Err(error) => {
                assert!(
                    len < 64 && error.to_string().contains("the disk is full"),
                    "{error}"
                );
                continue;
            }
        };
        let first_error = (0..600).find_map(|number| writer.append(&key(number), &value).err());
        if let Some(error) = first_error {
            failed_in_append += 1;
            assert!(matches!(&error, TableWriteError::Io(_)), "{error}");
            let again = writer.append(&key(1000), &value).unwrap_err();
            assert!(
                matches!(&again, TableWriteError::Poisoned { cause } if cause.contains("full")),
                "{again}"
            );
        }
        assert!(writer.finish().is_err(), "{len} of {whole} bytes");
    }
    assert!(failed_in_append > 10);
}

/// Both ways of writing give the same file for the same stream.
#[test]
fn a_finished_stream_gives_the_same_file_as_its_records() {
    let keys: Vec<[u8; 8]> = (0..5000).map(|number| key(number * 3)).collect();
    let records: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &key[5..])).collect();
    let options = TableOptions {
        common_width: Some(3),
        ..options()
    };
    let mut writer = TableWriter::<_>::new(Vec::new(), options.clone()).unwrap();
    records
        .iter()
        .for_each(|(key, value)| writer.append(key, value).unwrap());
    let streamed = writer.finish().unwrap();
    let stream = encode_batch::<Byte>(options.policy, &records).unwrap();
    let encoded = write_encoded_table(stream.view(), &options, Vec::new()).unwrap();
    assert!(streamed == encoded);
    assert_eq!(
        Table::<_>::open(&streamed.0[..])
            .unwrap()
            .verify()
            .unwrap()
            .record_count,
        5000
    );
}
