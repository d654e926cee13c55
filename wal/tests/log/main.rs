//! The log as its users see it: what is written, what is replayed, and what is refused.

#![expect(
    clippy::cast_possible_truncation,
    reason = "small numbers of the tests' own making"
)]

#[cfg(test)]
mod chain;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod format;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod salvaged;
#[cfg(test)]
mod support;
#[cfg(test)]
mod writing;
