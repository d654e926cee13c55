//! Files of the command that are no part of a database: what is loaded, dumps, directories for a time.

#![expect(
    clippy::disallowed_methods,
    reason = "input, output and temporary directories are no part of a database"
)]

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::failure::{Failure, Result};
use crate::interrupt::Unfinished;

/// Makes a write over a limit of the size of files (`ulimit -f`) an error of that write. By default the signal for it ends the process. It
/// stays blocked in threads that are started from here on.
pub(crate) fn make_size_limits_errors() {
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigSet, Signal};
        let mut signals = SigSet::empty();
        signals.add(Signal::SIGXFSZ);
        // Where that is not possible, the signal does what it did.
        let _ = signals.thread_block();
    }
}

/// The name that stands for standard input and output.
const STANDARD: &str = "-";

/// Whether a path means standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

/// A file that can be read from its beginning again and again. What cannot be, standard input or a pipe, is copied to a temporary file
/// first.
#[derive(Debug)]
pub(crate) struct Input {
    path: PathBuf,
    file: File,
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &Path) -> Result<Input> {
        let failed = |operation| move |source| file_failure(operation, path, source);
        let file = if is_standard(path) {
            spooled(&mut io::stdin().lock())
                .map_err(|error| file_failure("read", Path::new("standard input"), error))?
        } else {
            let kind = fs::metadata(path).map_err(failed("open"))?;
            if kind.is_dir() {
                return Err(Failure::NotAFile {
                    path: path.to_path_buf(),
                });
            }
            let mut file = File::open(path).map_err(failed("open"))?;
            if kind.is_file() {
                file
            } else {
                spooled(&mut file).map_err(failed("read"))?
            }
        };
        let path = if is_standard(path) {
            PathBuf::from("standard input")
        } else {
            path.to_path_buf()
        };
        Ok(Input { path, file })
    }

    /// What to call it in a message.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// All of it, from its beginning. One reader at a time.
    pub(crate) fn read(&mut self) -> Result<BufReader<File>> {
        let rewound = self
            .file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.try_clone());
        let file = rewound.map_err(|error| file_failure("read", &self.path, error))?;
        Ok(BufReader::with_capacity(1 << 16, file))
    }
}

fn spooled(from: &mut dyn Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(from, &mut file)?;
    Ok(file)
}

/// A file being read once, front to back; `-` is standard input. With what to call it.
pub(crate) fn open_once(path: &Path) -> Result<(Box<dyn Read>, String)> {
    if is_standard(path) {
        return Ok((Box::new(io::stdin()), "standard input".to_owned()));
    }
    let failed = |source| file_failure("open", path, source);
    if fs::metadata(path).map_err(failed)?.is_dir() {
        return Err(Failure::NotAFile {
            path: path.to_path_buf(),
        });
    }
    Ok((
        Box::new(File::open(path).map_err(failed)?),
        path.display().to_string(),
    ))
}

/// All that a file holds, or the first `len_bytes_max` bytes of it; `-` is standard input.
pub(crate) fn read_all(path: &Path, len_bytes_max: u64) -> Result<Vec<u8>> {
    let (from, _) = open_once(path)?;
    let mut bytes = Vec::new();
    let read = from.take(len_bytes_max).read_to_end(&mut bytes);
    read.map_err(|error| file_failure("read", path, error))?;
    Ok(bytes)
}

/// A new file that gets its name when it is finished; until then it has another beside it, and goes again. Never takes the place of one that
/// is there.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    file: NamedTempFile,
    _unfinished: Unfinished,
}

impl Output {
    pub(crate) fn create(path: &Path) -> Result<Output> {
        if fs::symlink_metadata(path).is_ok() {
            return Err(Failure::Exists {
                path: path.to_path_buf(),
            });
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".tephra-unfinished-");
        #[cfg(unix)]
        let builder = {
            use std::os::unix::fs::PermissionsExt as _;
            // It is to be a file like others, less what the umask takes away.
            builder.permissions(fs::Permissions::from_mode(0o666))
        };
        let made = Unfinished::make(|| builder.tempfile_in(parent_of(path)));
        let (file, unfinished) = made.map_err(|error| file_failure("create", path, error))?;
        Ok(Output {
            path: path.to_path_buf(),
            file,
            _unfinished: unfinished,
        })
    }

    /// Makes it durable under its name.
    pub(crate) fn finish(self) -> Result<()> {
        let path = self.path;
        let synced = self.file.as_file().sync_all();
        synced.map_err(|error| file_failure("sync", &path, error))?;
        match self.file.persist_noclobber(&path) {
            Ok(_) => sync_parent(&path),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(Failure::Exists { path }),
            Err(error) => Err(file_failure("create", &path, error.error)),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Refuses a directory with anything in it.
pub(crate) fn check_fresh(what: &'static str, path: &Path) -> Result<()> {
    let is_in_the_way = match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    if is_in_the_way {
        return Err(Failure::InTheWay {
            what,
            path: path.to_path_buf(),
        });
    }
    Ok(())
}

/// A directory for a time: gone with everything in it when dropped, and at an interrupt.
#[derive(Debug)]
pub(crate) struct Temporary {
    // Dropped after the directory: an interrupt meanwhile finishes the removal.
    directory: TempDir,
    unfinished: Unfinished,
}

impl Temporary {
    fn make(make: impl FnOnce() -> io::Result<TempDir>) -> io::Result<Temporary> {
        let (directory, unfinished) = Unfinished::make(make)?;
        Ok(Temporary {
            directory,
            unfinished,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Lets it stay.
    pub(crate) fn keep(self) {
        drop(self.unfinished);
        let _ = self.directory.keep();
    }
}

/// One among the temporary directories of the system.
pub(crate) fn temporary_directory(prefix: &str) -> Result<Temporary> {
    let made = Temporary::make(|| tempfile::Builder::new().prefix(prefix).tempdir());
    made.map_err(|error| file_failure("make a directory in", &std::env::temp_dir(), error))
}

/// One beside a path, to take its place later.
pub(crate) fn directory_beside(path: &Path) -> Result<Temporary> {
    let parent = parent_of(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tephra-unfinished-");
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::PermissionsExt as _;
        // It is to be a directory like others, less what the umask takes away.
        builder.permissions(fs::Permissions::from_mode(0o777))
    };
    let made = Temporary::make(|| builder.tempdir_in(parent));
    made.map_err(|error| file_failure("make a directory in", parent, error))
}

/// Gives a directory its final name, durably. An empty directory of that name is replaced.
pub(crate) fn move_into_place(from: Temporary, to: &Path) -> Result<()> {
    fs::rename(from.path(), to).map_err(|error| file_failure("move what was made to", to, error))?;
    // There is nothing at the old name any more.
    from.keep();
    sync_parent(to)
}

/// Makes a name durable.
fn sync_parent(path: &Path) -> Result<()> {
    let synced = File::open(parent_of(path)).and_then(|parent| parent.sync_all());
    synced.map_err(|error| file_failure("sync the directory of", path, error))
}

/// Refuses a path in the directory of a database: it could be one of its files.
pub(crate) fn check_outside(path: &Path, database: &Path) -> Result<()> {
    // Through links, as far as there are such folders.
    match (fs::canonicalize(parent_of(path)), fs::canonicalize(database)) {
        (Ok(parent), Ok(database)) if parent.starts_with(&database) => Err(Failure::IntoTheDatabase {
            path: path.to_path_buf(),
        }),
        _ => Ok(()),
    }
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The failure of an operation on a file.
pub(crate) fn file_failure(operation: &'static str, path: &Path, source: io::Error) -> Failure {
    Failure::File {
        operation,
        path: path.to_path_buf(),
        source,
    }
}
