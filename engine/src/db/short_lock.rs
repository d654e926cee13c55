//! A lock that is only ever held for less than a microsecond: for a look-up or an insertion in a map, or to copy pointers.
//!
//! ```text
//! free            taken at once
//! taken           asked for again, up to some microseconds: it is free before a thread could be put to sleep and woken
//! still taken     its holder was stopped by the system: sleep until it is free, fairly
//! ```
//!
//! A lock that puts a waiting thread to sleep early pays for it twice here: the thread that wakes the sleeper makes a system call, and
//! everybody who comes meanwhile queues up behind a writer that is not awake yet.

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// How often a taken lock is asked for before its thread sleeps: a few microseconds.
const TRIES: u32 = 200;

/// A lock for many readers or one writer, held shortly.
#[derive(Debug, Default)]
pub(crate) struct ShortLock<T>(RwLock<T>);

impl<T> ShortLock<T> {
    pub(crate) fn new(value: T) -> Self {
        ShortLock(RwLock::new(value))
    }

    /// Shared access.
    #[inline]
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        match self.0.try_read() {
            Some(guard) => guard,
            None => self.wait_to_read(),
        }
    }

    /// Exclusive access.
    #[inline]
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        match self.0.try_write() {
            Some(guard) => guard,
            None => self.wait_to_write(),
        }
    }

    #[cold]
    fn wait_to_read(&self) -> RwLockReadGuard<'_, T> {
        try_often(|| self.0.try_read()).unwrap_or_else(|| self.0.read())
    }

    #[cold]
    fn wait_to_write(&self) -> RwLockWriteGuard<'_, T> {
        try_often(|| self.0.try_write()).unwrap_or_else(|| self.0.write())
    }
}

fn try_often<G>(mut lock: impl FnMut() -> Option<G>) -> Option<G> {
    (0..TRIES).find_map(|_| {
        std::hint::spin_loop();
        lock()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_and_writers_wait_for_each_other_and_nothing_is_lost() {
        let lock = ShortLock::new((0_u64, 0_u64));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for round in 0..2_000 {
                        let mut guard = lock.write();
                        guard.0 += 1;
                        // Now and then longer than anybody asks again.
                        if round % 500 == 0 {
                            std::thread::yield_now();
                        }
                        guard.1 += 1;
                    }
                });
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        let guard = lock.read();
                        assert_eq!(guard.0, guard.1);
                    }
                });
            }
        });
        assert_eq!(*lock.read(), (4_000, 4_000));
    }
}
