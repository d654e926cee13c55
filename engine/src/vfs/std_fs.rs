//! The real file system.

#![expect(
    clippy::disallowed_methods,
    reason = "this file owns the file calls of the engine"
)]

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tephra_wal::LogSegment;

use super::error::Context as _;
use super::{
    DirEntry, FileBytes, FileKind, FileSystem, FsError, LockError, LockGuard, LockHolder, Operation,
    WritableFile, mmap, std_segment,
};

/// Writes smaller than this are gathered.
const WRITE_BUFFER_LEN_BYTES: usize = 64 << 10;

/// The operating system's files.
#[derive(Clone, Debug)]
pub struct StdFs {
    boot_id: [u8; 16],
}

impl StdFs {
    /// Asks the kernel for its boot id, once.
    #[must_use]
    pub fn new() -> Self {
        Self {
            boot_id: read_boot_id().unwrap_or_default(),
        }
    }
}

impl Default for StdFs {
    fn default() -> Self {
        Self::new()
    }
}

impl FileSystem for StdFs {
    fn create_dir_all(&self, dir: &Path) -> Result<(), FsError> {
        fs::create_dir_all(dir).context(Operation::CreateDir, dir)
    }

    fn list(&self, dir: &Path) -> Result<Vec<DirEntry>, FsError> {
        let list = || -> io::Result<Vec<DirEntry>> {
            let mut entries = Vec::new();
            for entry in fs::read_dir(dir)? {
                let entry = entry?;
                entries.push(DirEntry {
                    name: entry.file_name(),
                    kind: kind_of(entry.file_type()?),
                });
            }
            entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            Ok(entries)
        };
        list().context(Operation::List, dir)
    }

    fn kind(&self, path: &Path) -> Result<Option<FileKind>, FsError> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(kind_of(metadata.file_type()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(fs::symlink_metadata(path).ok().map(|_| FileKind::Other))
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
            Err(error) => Err(FsError::new(Operation::Inspect, path, error)),
        }
    }

    fn len_bytes(&self, path: &Path) -> Result<u64, FsError> {
        let metadata = fs::metadata(path).context(Operation::Inspect, path)?;
        if metadata.is_dir() {
            return Err(FsError::new(
                Operation::Inspect,
                path,
                io::ErrorKind::IsADirectory.into(),
            ));
        }
        Ok(metadata.len())
    }

    fn create_new(&self, path: &Path) -> Result<Box<dyn WritableFile>, FsError> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .context(Operation::Create, path)?;
        Ok(Box::new(StdFile {
            file: BufWriter::with_capacity(WRITE_BUFFER_LEN_BYTES, file),
            path: path.to_owned(),
        }))
    }

    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>, FsError> {
        let open = check_regular(path).and_then(|()| OpenOptions::new().append(true).create(true).open(path));
        Ok(Box::new(StdFile {
            file: BufWriter::with_capacity(
                WRITE_BUFFER_LEN_BYTES,
                open.context(Operation::OpenAppend, path)?,
            ),
            path: path.to_owned(),
        }))
    }

    fn open_map(&self, path: &Path) -> Result<FileBytes, FsError> {
        let map = || -> io::Result<FileBytes> {
            let file = open_file(path)?;
            let len_bytes = usize::try_from(file.metadata()?.len())
                .map_err(|_| io::Error::new(io::ErrorKind::FileTooLarge, "longer than memory can address"))?;
            if len_bytes == 0 {
                return Ok(FileBytes::memory(Arc::default()));
            }
            Ok(FileBytes::mapped(mmap::map_finished(&file, len_bytes)?))
        };
        map().context(Operation::Map, path)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FsError> {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = open_file(path)?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().context(Operation::Read, path)
    }

    fn sync_file(&self, path: &Path) -> Result<(), FsError> {
        let sync = || {
            check_regular(path)?;
            let mut file = OpenOptions::new().read(true).write(true).open(path)?;
            write_over_itself(&mut file)?;
            file.sync_all()
        };
        sync().context(Operation::Sync, path)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), FsError> {
        fs::rename(from, to).context(Operation::Rename, to)
    }

    fn remove(&self, path: &Path) -> Result<(), FsError> {
        fs::remove_file(path).context(Operation::Remove, path)
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), FsError> {
        fs::remove_dir(dir).context(Operation::RemoveDir, dir)
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), FsError> {
        fs::hard_link(existing, new).context(Operation::Link, new)
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), FsError> {
        // Elsewhere a directory cannot be opened as a file, and the file system orders its names by itself.
        if !cfg!(unix) {
            return Ok(());
        }
        File::open(dir)
            .and_then(|dir| dir.sync_all())
            .context(Operation::SyncDir, dir)
    }

    fn create_segment(&self, path: &Path, capacity_bytes: u64) -> Result<Box<dyn LogSegment>, FsError> {
        let open = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path);
        let file = open.context(Operation::CreateSegment, path)?;
        std_segment::create(file, path, capacity_bytes).map_err(|error| {
            // Room that could not be set aside is given back; the error that matters is the first one.
            drop(fs::remove_file(path));
            FsError::new(Operation::CreateSegment, path, error)
        })
    }

    fn lock_exclusive(&self, path: &Path) -> Result<Box<dyn LockGuard>, LockError> {
        let open = || {
            check_regular(path)?;
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(false);
            options.open(path)
        };
        let mut file = open().context(Operation::Lock, path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(&mut file, path)),
            Err(TryLockError::Error(error)) => return Err(FsError::new(Operation::Lock, path, error).into()),
        }
        // The number is for people; the lock is what counts.
        let mut name_holder = || -> io::Result<()> {
            file.set_len(0)?;
            file.write_all(format!("{}\n", std::process::id()).as_bytes())
        };
        name_holder().context(Operation::Lock, path)?;
        Ok(Box::new(StdLock { file }))
    }

    fn lock_shared(&self, path: &Path) -> Result<Option<Box<dyn LockGuard>>, LockError> {
        let mut file = match open_file(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FsError::new(Operation::Lock, path, error).into()),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(Some(Box::new(StdLock { file }))),
            Err(TryLockError::WouldBlock) => Err(held(&mut file, path)),
            Err(TryLockError::Error(error)) => Err(FsError::new(Operation::Lock, path, error).into()),
        }
    }

    fn boot_id(&self) -> [u8; 16] {
        self.boot_id
    }
}

/// Opens a regular file for reading.
fn open_file(path: &Path) -> io::Result<File> {
    check_regular(path)?;
    File::open(path)
}

/// Refuses what is there but no regular file, before it is opened: opening a pipe waits for its other end, and a directory would be
/// an error only at the first read. What is not there is left to the call that opens it.
fn check_regular(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "expected a regular file, found a pipe, a socket or a device",
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes the system believe that all of a file is to be written to disk, by writing what it reads. Zeros are left alone: most of
/// a young log segment is room that was never written.
fn write_over_itself(file: &mut File) -> io::Result<()> {
    let mut chunk = vec![0; WRITE_BUFFER_LEN_BYTES];
    loop {
        let len = file.read(&mut chunk)?;
        if len == 0 {
            return Ok(());
        }
        if chunk[..len].iter().any(|&byte| byte != 0) {
            let back = i64::try_from(len).expect("a chunk is small");
            file.seek(SeekFrom::Current(-back))?;
            file.write_all(&chunk[..len])?;
        }
    }
}

fn kind_of(kind: fs::FileType) -> FileKind {
    if kind.is_file() {
        FileKind::File
    } else if kind.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Other
    }
}

/// The error for a lock that somebody else has, with the number that a writer left in the file.
fn held(file: &mut File, path: &Path) -> LockError {
    // Where one more reader would be let in, readers have it; the number is that of the last writer, long gone.
    if file.try_lock_shared().is_ok() {
        drop(file.unlock());
        return LockError::Held {
            path: path.to_owned(),
            holder: LockHolder::Readers,
        };
    }
    let mut text = String::new();
    let read = file
        .rewind()
        .and_then(|()| file.take(32).read_to_string(&mut text));
    let holder = match read.ok().and_then(|_| text.trim().parse().ok()) {
        Some(id) if id == std::process::id() => LockHolder::ThisProcess(id),
        Some(id) => LockHolder::Process(id),
        None => LockHolder::Unknown,
    };
    LockError::Held {
        path: path.to_owned(),
        holder,
    }
}

/// The kernel's name for this boot, `None` where it gives none.
fn read_boot_id() -> Option<[u8; 16]> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let number = u128::from_str_radix(&digits, 16).ok()?;
    (digits.len() == 32).then(|| number.to_be_bytes())
}

/// A file under construction, with its path for errors.
#[derive(Debug)]
struct StdFile {
    file: BufWriter<File>,
    path: PathBuf,
}

impl io::Write for StdFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(self.file.write(bytes).context(Operation::Write, &self.path)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(self.file.flush().context(Operation::Write, &self.path)?)
    }
}

impl WritableFile for StdFile {
    fn sync(&mut self) -> Result<(), FsError> {
        self.file.flush().context(Operation::Write, &self.path)?;
        self.file
            .get_ref()
            .sync_data()
            .context(Operation::Sync, &self.path)
    }
}

/// The lock belongs to the open file and goes with it.
#[derive(Debug)]
struct StdLock {
    file: File,
}

impl LockGuard for StdLock {}

impl Drop for StdLock {
    fn drop(&mut self) {
        // Closing is not enough where another thread has just forked: until it executes its program, the child has the file open.
        drop(self.file.unlock());
    }
}

#[cfg(test)]
mod tests;
