//! Holds errors to their word.
//!
//! One that leaves the database usable changed nothing, now or after a crash. One that stops the writer may have come before or after
//! its batch reached the log: readers see it whole or not at all, a recovery finds it or not. No error at all comes from a disk that
//! does not fail.

use tephradb::{Error, Usability};

use super::{Check, Machine};

impl Machine<'_> {
    /// Holds an error to its word; `None` for one that may be.
    pub(super) fn judge<T>(&mut self, what: &str, outcome: tephradb::Result<T>) -> Result<Option<T>, String> {
        let was_stopped = self.session().is_stopped;
        self.judge_since(was_stopped, what, outcome)
    }

    /// As [`Machine::judge`], of a call that began when the writer had stopped, or not.
    pub(super) fn judge_since<T>(
        &mut self,
        was_stopped: bool,
        what: &str,
        outcome: tephradb::Result<T>,
    ) -> Result<Option<T>, String> {
        let error = match outcome {
            Ok(value) => return Ok(Some(value)),
            Err(error) => error,
        };
        if matches!(error, Error::DropInDoubt { .. }) && self.model.names_are_uncertain() {
            return Ok(None);
        }
        let session = self.session();
        if !session.has_faults() && !session.may_be_flipped && !session.is_stopped {
            return Err(format!("{what} failed on a disk that does not: {error}"));
        }
        match error.usability() {
            Usability::Usable if was_stopped && !session.may_be_flipped => Err(format!(
                "{what}: the writer has stopped, and the error calls the database usable: {error}"
            )),
            Usability::Usable => Ok(None),
            Usability::ReadsOnly if matches!(error, Error::WriterStopped { .. }) => {
                session.is_stopped = true;
                Ok(None)
            }
            _ => Err(format!("{what} failed as nothing that is open may fail: {error}")),
        }
    }

    /// After a batch that stopped the writer: readers see it whole or not at all.
    pub(super) fn look(&mut self) -> Check {
        let Some(session) = &self.session else {
            return Ok(());
        };
        if !session.has_faults() {
            return Ok(());
        }
        let seen = session.check_contents(&self.model);
        if seen.is_err() && session.is_stopped {
            let mut other = self.model.clone();
            other.uncertain_is_visible();
            if session.check_contents(&other).is_ok() {
                self.model = other;
                return Ok(());
            }
        }
        seen.map_err(|different| format!("after an error: {different}"))
    }
}
