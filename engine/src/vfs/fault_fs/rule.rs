//! Which calls fail, and how.

use std::fmt;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::clock::ManualClock;
use crate::vfs::Operation;

/// What happens instead of a call.
#[derive(Clone, Debug)]
pub enum Fault {
    /// An error of the device.
    DeviceError,
    /// No room. On writes half of the bytes are written first.
    StorageFull,
    /// A write takes half of its bytes, and succeeds. Other calls go through.
    ShortWrite,
    /// A write takes nothing, and succeeds. Other calls go through.
    ZeroWrite,
    /// The bit of this number, counted round the file, is read wrong. Other calls go through.
    FlipBit(u64),
    /// The call waits until the gate is opened, then goes through: a disk that stalls.
    Stall(Gate),
    /// The call goes through, and takes so many milliseconds by a clock that a test moves: a slow disk.
    Slow(Arc<ManualClock>, u64),
    /// The call succeeds and does nothing: a disk that lies. Calls that give something back go through.
    Skipped,
    /// Something else happens first, on the same thread, then the call goes through.
    Interlude(Interlude),
}

/// What happens before a call: the scheduling of one thread, driven by a test. It runs once, without any lock of the file
/// system's, but with those that the caller of the file system holds.
#[derive(Clone)]
pub struct Interlude(Arc<Mutex<Option<Play>>>);

type Play = Box<dyn FnOnce() + Send>;

impl Interlude {
    /// Something to do at a call.
    #[must_use]
    pub fn new(play: impl FnOnce() + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::new(play)))))
    }

    /// It will not happen any more.
    pub fn cancel(&self) {
        drop(self.0.lock().take());
    }

    pub(super) fn play(&self) {
        let play = self.0.lock().take();
        if let Some(play) = play {
            play();
        }
    }
}

impl fmt::Debug for Interlude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interlude").finish_non_exhaustive()
    }
}

/// Holds calls back until it is opened, once and for all. Clones are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<(Mutex<GateState>, Condvar)>);

#[derive(Debug, Default)]
struct GateState {
    is_open: bool,
    arrived_count: usize,
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everybody through.
    pub fn open(&self) {
        self.0.0.lock().is_open = true;
        self.0.1.notify_all();
    }

    /// Returns when so many calls have come to the gate.
    pub fn wait_for(&self, call_count: usize) {
        let mut state = self.0.0.lock();
        while state.arrived_count < call_count {
            self.0.1.wait(&mut state);
        }
    }

    pub(super) fn pass(&self) {
        let mut state = self.0.0.lock();
        state.arrived_count += 1;
        self.0.1.notify_all();
        while !state.is_open {
            self.0.1.wait(&mut state);
        }
    }
}

/// Which calls a rule means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// All of them.
    Any,
    /// Those that change something on the disk.
    Changing,
    /// Those of one kind.
    Only(Operation),
}

impl Calls {
    pub(super) fn include(self, operation: Operation) -> bool {
        use Operation::{Inspect, List, Lock, Map, Read};
        match self {
            Self::Any => true,
            Self::Changing => !matches!(operation, List | Inspect | Map | Read | Lock),
            Self::Only(only) => operation == only,
        }
    }
}

/// Which calls fail, and how.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Which calls are meant.
    pub calls: Calls,
    /// Only those whose path contains this.
    pub path_contains: String,
    /// So many of them pass first.
    pub skip_count: u64,
    /// All of them fail from then on, not only the next.
    pub lasts: bool,
    /// How.
    pub fault: Fault,
}

impl Rule {
    /// The next such call fails, once.
    #[must_use]
    pub fn once(calls: Calls, fault: Fault) -> Self {
        Self {
            calls,
            path_contains: String::new(),
            skip_count: 0,
            lasts: false,
            fault,
        }
    }

    /// All such calls fail from now on.
    #[must_use]
    pub fn always(calls: Calls, fault: Fault) -> Self {
        Self {
            lasts: true,
            ..Self::once(calls, fault)
        }
    }

    /// The same, after so many calls.
    #[must_use]
    pub fn after(self, skip_count: u64) -> Self {
        Self { skip_count, ..self }
    }

    /// The same, on paths that contain a text.
    #[must_use]
    pub fn on(self, path_contains: &str) -> Self {
        Self {
            path_contains: path_contains.to_owned(),
            ..self
        }
    }
}
