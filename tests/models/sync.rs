//! The scheduler's locks in the form that the log's code uses: no poisoning, and conditions that borrow their guard.

use std::ops::{Deref, DerefMut};

/// A lock at which the scheduler decides who goes on.
#[derive(Debug, Default)]
pub struct Mutex<T>(shuttle::sync::Mutex<T>);

/// The lock, held. Empty only while a condition waits.
#[derive(Debug)]
pub(crate) struct MutexGuard<'a, T>(Option<shuttle::sync::MutexGuard<'a, T>>);

/// A condition to wait for.
#[derive(Debug, Default)]
pub struct Condvar(shuttle::sync::Condvar);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Mutex(shuttle::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap()))
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().unwrap()
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().unwrap()
    }
}

impl Condvar {
    pub(crate) fn new() -> Self {
        Condvar::default()
    }

    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.0.take().unwrap();
        guard.0 = Some(self.0.wait(held).unwrap());
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}
