//! The simulated machine: directories, files, locks, and what of them is on the disk.
//!
//! ```text
//!   directory    seen     { CURRENT -> file 9, 000004.tbl -> file 7 }
//!                on disk  { CURRENT -> file 3 }
//!                changes  [ set 000004.tbl = 7 ] [ set tmp = 9 ] [ move tmp to CURRENT ]
//! ```
//!
//! A change of names is on the disk once its directory was synced. At a power cut each pending change happened or
//! not, on its own; a rename is one change, never half of one.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use super::contents::{Contents, Mood};
use super::random::Random;

use crate::sorted_map::SortedMap;

/// Names the contents of a file, whatever its names.
pub(super) type FileId = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    File(FileId),
    Directory,
}

#[derive(Clone, Debug)]
enum Change {
    Set(OsString, Node),
    Unset(OsString),
    Move(OsString, OsString, Node),
}

#[derive(Clone, Debug, Default)]
struct Directory {
    seen: SortedMap<OsString, Node>,
    on_disk: SortedMap<OsString, Node>,
    pending: Vec<Change>,
}

fn apply(names: &mut SortedMap<OsString, Node>, change: &Change) {
    match change {
        Change::Set(name, node) => drop(names.insert(name.clone(), *node)),
        Change::Unset(name) => drop(names.remove(name)),
        Change::Move(from, to, node) => {
            names.remove(from);
            names.insert(to.clone(), *node);
        }
    }
}

impl Directory {
    fn change(&mut self, change: Change) {
        apply(&mut self.seen, &change);
        self.pending.push(change);
    }

    fn sync(&mut self) {
        self.pending.clear();
        self.on_disk.clone_from(&self.seen);
    }

    fn cut(&self, random: &mut Random) -> Self {
        let mood = Mood::pick(random);
        let mut names = self.on_disk.clone();
        for change in self.pending.iter().filter(|_| mood.keeps(random)) {
            apply(&mut names, change);
        }
        Self {
            seen: names.clone(),
            on_disk: names,
            pending: Vec::new(),
        }
    }

    fn files(&self) -> impl Iterator<Item = FileId> {
        let pending = self.pending.iter().filter_map(|change| match change {
            Change::Set(_, node) | Change::Move(_, _, node) => Some(*node),
            Change::Unset(_) => None,
        });
        let nodes = self
            .seen
            .values()
            .chain(self.on_disk.values())
            .copied()
            .chain(pending);
        nodes.filter_map(|node| if let Node::File(id) = node { Some(id) } else { None })
    }
}

/// Who holds a lock file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holder {
    Writer,
    Readers(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Machine {
    directories: SortedMap<PathBuf, Directory>,
    files: SortedMap<FileId, Contents>,
    next_file: FileId,
    pub(super) locks: SortedMap<PathBuf, Holder>,
    pub(super) boot_count: u64,
    /// So many syncs of files succeed before one fails.
    pub(super) syncs_before_failure: Option<u64>,
    /// Room for the contents of files that have a name.
    pub(super) capacity_bytes: u64,
}

impl Machine {
    /// A machine with an empty disk.
    pub(super) fn new() -> Self {
        Self {
            directories: SortedMap::from_iter([(PathBuf::new(), Directory::default())]),
            files: SortedMap::new(),
            next_file: 1,
            locks: SortedMap::new(),
            boot_count: 1,
            syncs_before_failure: None,
            capacity_bytes: u64::MAX,
        }
    }

    /// Bytes that still fit on the disk.
    pub(super) fn room_bytes(&self) -> u64 {
        if self.capacity_bytes == u64::MAX {
            return u64::MAX;
        }
        let named: BTreeSet<FileId> = self
            .directories
            .values()
            .flat_map(|directory| directory.seen.values())
            .filter_map(|node| {
                if let Node::File(id) = node {
                    Some(*id)
                } else {
                    None
                }
            })
            .collect();
        let used: u64 = named
            .iter()
            .filter_map(|id| self.files.get(id))
            .map(|contents| contents.len() as u64)
            .sum();
        self.capacity_bytes.saturating_sub(used)
    }

    /// The machine after its process died: what was written is there, locks are gone.
    pub(super) fn after_kill(&self) -> Self {
        Self {
            locks: SortedMap::new(),
            syncs_before_failure: None,
            ..self.clone()
        }
    }

    /// The machine after a power cut.
    pub(super) fn after_power_cut(&self, random: &mut Random) -> Self {
        let mut after = Self::new();
        after.boot_count = self.boot_count + 1;
        after.next_file = self.next_file;
        after.capacity_bytes = self.capacity_bytes;
        after.directories = self
            .directories
            .iter()
            .map(|(path, dir)| (path.clone(), dir.cut(random)))
            .collect();
        after.files = self
            .files
            .iter()
            .map(|(&id, contents)| (id, contents.cut(random)))
            .collect();
        after.forget_unreachable();
        after
    }

    /// Drops directories that no parent names any more, and files without a name.
    fn forget_unreachable(&mut self) {
        let paths: Vec<PathBuf> = self
            .directories
            .keys()
            .filter(|path| *path != Path::new(""))
            .cloned()
            .collect();
        // Parents sort before what is in them.
        for path in paths {
            if self.node(&path) != Some(Node::Directory) {
                self.directories.remove(&path);
            }
        }
        self.forget_nameless_files();
    }

    fn forget_nameless_files(&mut self) {
        let named: BTreeSet<FileId> = self.directories.values().flat_map(Directory::files).collect();
        self.files.retain(|id, _| named.contains(id));
    }

    pub(super) fn node(&self, path: &Path) -> Option<Node> {
        let path = plain(path);
        let Some(name) = path.file_name() else {
            return Some(Node::Directory);
        };
        self.directories.get(parent(&path))?.seen.get(name).copied()
    }

    pub(super) fn file(&mut self, path: &Path) -> io::Result<FileId> {
        match self.node(path) {
            Some(Node::File(id)) => Ok(id),
            Some(Node::Directory) => Err(ErrorKind::IsADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    /// The contents of a file that somebody holds open; gone with its last name, when nobody can look any more.
    pub(super) fn contents(&mut self, id: FileId) -> Option<&mut Contents> {
        self.files.get_mut(&id)
    }

    pub(super) fn read(&mut self, path: &Path) -> io::Result<&mut Contents> {
        let id = self.file(path)?;
        Ok(self.files.get_mut(&id).expect("a file with a name has contents"))
    }

    /// Syncs a file, or fails to.
    pub(super) fn sync(&mut self, id: FileId) -> io::Result<()> {
        let fails = self.syncs_before_failure == Some(0);
        self.syncs_before_failure = self.syncs_before_failure.and_then(|count| count.checked_sub(1));
        match self.files.get_mut(&id) {
            Some(contents) if fails => contents.fail_to_sync(),
            Some(contents) => contents.sync(),
            None => {}
        }
        if fails {
            Err(io::Error::other("simulated device error"))
        } else {
            Ok(())
        }
    }

    pub(super) fn create(&mut self, path: &Path, contents: Contents) -> io::Result<FileId> {
        let id = self.next_file;
        self.set_new(path, Node::File(id))?;
        self.next_file += 1;
        self.files.insert(id, contents);
        Ok(id)
    }

    pub(super) fn link(&mut self, existing: &Path, new: &Path) -> io::Result<()> {
        let id = self.file(existing)?;
        self.set_new(new, Node::File(id))
    }

    fn set_new(&mut self, path: &Path, node: Node) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        if directory.seen.contains_key(&name) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        directory.change(Change::Set(name, node));
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let node = Node::File(self.file(from)?);
        if self.node(to) == Some(Node::Directory) {
            return Err(ErrorKind::IsADirectory.into());
        }
        let (from, to) = (plain(from), plain(to));
        let (_, to_name) = self.place(&to)?;
        let (directory, from_name) = self.place(&from)?;
        if parent(&from) == parent(&to) {
            directory.change(Change::Move(from_name, to_name, node));
        } else {
            directory.change(Change::Unset(from_name));
            self.place(&to)?.0.change(Change::Set(to_name, node));
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.file(path)?;
        let (directory, name) = self.place(path)?;
        directory.change(Change::Unset(name));
        Ok(())
    }

    pub(super) fn remove_dir(&mut self, path: &Path) -> io::Result<()> {
        if !self.list(path)?.is_empty() {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        let path = plain(path);
        let (directory, name) = self.place(&path)?;
        directory.change(Change::Unset(name));
        self.directories.remove(&path);
        Ok(())
    }

    pub(super) fn create_dir_all(&mut self, path: &Path) -> io::Result<()> {
        let path = plain(path);
        let Some(name) = path.file_name() else {
            return Ok(());
        };
        match self.node(&path) {
            Some(Node::Directory) => return Ok(()),
            Some(Node::File(_)) => return Err(ErrorKind::AlreadyExists.into()),
            None => {}
        }
        self.create_dir_all(parent(&path))?;
        let (directory, _) = self.place(&path)?;
        directory.change(Change::Set(name.to_owned(), Node::Directory));
        self.directories.insert(path, Directory::default());
        Ok(())
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<&SortedMap<OsString, Node>> {
        match (self.node(path), self.directories.get(&plain(path))) {
            (_, Some(directory)) => Ok(&directory.seen),
            (Some(Node::File(_)), None) => Err(ErrorKind::NotADirectory.into()),
            _ => Err(ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        self.list(path)?;
        self.directories
            .get_mut(&plain(path))
            .expect("it was just listed")
            .sync();
        self.forget_nameless_files();
        Ok(())
    }

    /// The directory of a path, and the last name.
    fn place(&mut self, path: &Path) -> io::Result<(&mut Directory, OsString)> {
        let path = plain(path);
        let name = path
            .file_name()
            .map(OsStr::to_owned)
            .ok_or(ErrorKind::InvalidInput)?;
        let directory = self
            .directories
            .get_mut(parent(&path))
            .ok_or(ErrorKind::NotFound)?;
        Ok((directory, name))
    }
}

/// A path without its root and without dots: this machine has one disk, and every path starts there.
pub(super) fn plain(path: &Path) -> PathBuf {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    names.collect()
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}
