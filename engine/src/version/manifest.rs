//! The manifest: a framed, checksummed log of edits, and the file that names the one in force.
//!
//! ```text
//! CURRENT            "MANIFEST-000007\n"
//! MANIFEST-000007    | header | Begin | snapshot | edit | mark | edit | mark | ...      framing as in the log
//! ```
//!
//! An edit is in force once it has been synced. A manifest that has grown is followed by a new one that starts with a
//! snapshot of the state:
//!
//! 1. write `MANIFEST-n` and `CURRENT.tmp`, sync both, sync the directory;
//! 2. rename `CURRENT.tmp` to `CURRENT`, sync the directory;
//! 3. remove the old manifest.
//!
//! A failure of the first step leaves the old one in force, and it is tried again later. An append or a second step that failed
//! leaves in doubt what is in force; a further manifest settles it (see `set.rs`).

use std::io::Write as _;
use std::path::PathBuf;

use tephra_wal::{BootId, FramedFile, Replay, ReplayError, ReplayOptions, SegmentBytes};

use super::edit::Edit;
use super::state::{Contradiction, ManifestState};
use crate::byte_reader::Malformed;
use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::file_name::FileName;
use crate::vfs::{FsError, Operation, WritableFile};

/// The first bytes of a manifest.
pub(crate) const MANIFEST_MAGIC: [u8; 8] = *b"tephman\n";

/// The manifest in force, open for appending.
#[derive(Debug)]
pub(crate) struct Manifest {
    number: u64,
    path: PathBuf,
    file: FramedFile<Box<dyn WritableFile>>,
}

impl Manifest {
    /// Writes a new manifest that starts with `state` and puts it in force.
    pub(crate) fn create(directory: &Directory, number: u64, state: &ManifestState) -> Result<Manifest> {
        let manifest = Manifest::write(directory, number, state)?;
        manifest.put_in_force(directory)?;
        Ok(manifest)
    }

    /// Writes a new manifest that starts with `state`, and a `CURRENT.tmp` that names it. The manifest in force stays so; after an
    /// error the files may be removed.
    pub(crate) fn write(directory: &Directory, number: u64, state: &ManifestState) -> Result<Manifest> {
        let path = directory.path_of(FileName::Manifest(number));
        let out = directory.file_system.create_new(&path)?;
        let header = directory.framed_header(MANIFEST_MAGIC, number);
        let file =
            FramedFile::create(out, header).map_err(|cause| FsError::of(Operation::Write, &path, cause))?;
        let mut manifest = Manifest { number, path, file };
        manifest.append(&state.to_edit())?;
        write_current_tmp(directory, number)?;
        directory.sync()?;
        Ok(manifest)
    }

    /// Makes `CURRENT` name the manifest, in one step. After an error nobody knows which one is in force.
    pub(crate) fn put_in_force(&self, directory: &Directory) -> Result<()> {
        let tmp = directory.path_of(FileName::CurrentTmp);
        directory
            .file_system
            .rename(&tmp, &directory.path_of(FileName::Current))?;
        directory.sync()
    }

    /// Appends an edit and makes it durable. After an error nobody knows whether the edit is in force: nothing more may be
    /// appended, and no file it names may be removed, until another manifest is in force.
    pub(crate) fn append(&mut self, edit: &Edit) -> Result<()> {
        let written = self.file.append(&edit.encode());
        written.map_err(|cause| FsError::of(Operation::Write, &self.path, cause))?;
        self.file.get_mut().sync()?;
        self.file.mark_synced();
        Ok(())
    }

    /// Ends the file with a record that changes nothing. What was in force stays in force whatever becomes of it; but damage of the
    /// last edit is then known from an edit that a crash cut short.
    pub(crate) fn seal(&mut self) -> Result<()> {
        self.append(&Edit::default())
    }

    /// Number in the file's name.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Length of the file in bytes.
    pub(crate) fn len_bytes(&self) -> u64 {
        self.file.len_bytes()
    }
}

/// Writes and syncs a `CURRENT.tmp` that names a manifest.
fn write_current_tmp(directory: &Directory, number: u64) -> Result<()> {
    let tmp = directory.path_of(FileName::CurrentTmp);
    directory.remove(FileName::CurrentTmp)?;
    let mut file = directory.file_system.create_new(&tmp)?;
    let line = format!("{}\n", FileName::Manifest(number));
    file.write_all(line.as_bytes())
        .map_err(|cause| FsError::of(Operation::Write, &tmp, cause))?;
    Ok(file.sync()?)
}

/// What `CURRENT` says: the number of the manifest in force; `None` without the file.
pub(crate) fn read_current(directory: &Directory) -> Result<Option<u64>> {
    let path = directory.path_of(FileName::Current);
    if !directory.file_system.exists(&path)? {
        return Ok(None);
    }
    let bytes = directory.file_system.read(&path)?;
    let name = std::str::from_utf8(&bytes)
        .ok()
        .and_then(|text| text.strip_suffix('\n'));
    match name.and_then(FileName::parse) {
        Some(FileName::Manifest(number)) => Ok(Some(number)),
        _ => Err(Error::Damaged {
            path,
            offset: 0,
            expected: "the name of a manifest and a line end".into(),
            found: format!("\"{}\"", bytes[..bytes.len().min(64)].escape_ascii()),
        }),
    }
}

/// Reads the manifest with a number: the sum of its edits. An edit whose end was never completely written is not in force.
pub(crate) fn read(directory: &Directory, number: u64) -> Result<ManifestState> {
    let path = directory.path_of(FileName::Manifest(number));
    if !directory.file_system.exists(&path)? {
        return Err(Error::Inconsistent {
            path,
            expected: "the manifest that CURRENT names".into(),
            found: "no such file".into(),
        });
    }
    let bytes = directory.file_system.read(&path)?;
    let damaged = |offset, expected: &str, found: String| Error::Damaged {
        path: path.clone(),
        offset,
        expected: expected.into(),
        found,
    };
    let options = ReplayOptions {
        magic: MANIFEST_MAGIC,
        boot_id: BootId(directory.file_system.boot_id()),
    };
    let segment = [SegmentBytes {
        number,
        bytes: &bytes,
    }];
    let replay =
        Replay::new(&segment, options).map_err(|error| replay_error(directory, error, FileName::Manifest))?;
    let mut state = None;
    for record in replay {
        let record = record.map_err(|error| replay_error(directory, error, FileName::Manifest))?;
        let offset = record.position.offset;
        let edit = Edit::decode(record.payload).map_err(
            |Malformed {
                 offset: at,
                 expected,
                 found,
             }| damaged(offset + at as u64, expected, found),
        )?;
        state
            .get_or_insert_with(ManifestState::default)
            .apply(&edit)
            .map_err(|Contradiction { expected, found }| damaged(offset, &expected, found))?;
    }
    // CURRENT names a manifest only after its snapshot was synced.
    state.ok_or_else(|| {
        damaged(
            0,
            "a manifest with a snapshot as its first record",
            "no whole record".into(),
        )
    })
}

/// Names the file of an error that knows only its number.
pub(crate) fn replay_error(directory: &Directory, error: ReplayError, file: fn(u64) -> FileName) -> Error {
    match error {
        ReplayError::Damaged {
            segment,
            offset,
            kind,
        } => Error::Damaged {
            path: directory.path_of(file(segment)),
            offset,
            expected: "a whole record".into(),
            found: kind.to_string(),
        },
        ReplayError::MissingSegment { segment, named_by } => Error::Inconsistent {
            path: directory.path_of(file(segment)),
            expected: format!("this file, which {} follows", file(named_by)),
            found: "no such file".into(),
        },
        ReplayError::UnsupportedVersion { segment, version } => Error::Damaged {
            path: directory.path_of(file(segment)),
            offset: 8,
            expected: format!("format version {}", tephra_wal::FORMAT_VERSION),
            found: format!("version {version}, written by a newer release"),
        },
    }
}
