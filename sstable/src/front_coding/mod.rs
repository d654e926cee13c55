//! Front coding: a key is what it keeps of the key before it, and the units that are new.
//!
//! ```text
//! record i        i mod W == 0:  count(retained)                     absolute; 0 for record 0
//!                 otherwise:     backspace(previous key length - retained)
//!                 count(suffix length)
//!                 count(value length)                                absent when the stream has a common width
//!                 suffix units, value units
//! ```
//!
//! *Ordinary* front coding retains exactly the common prefix with the key before. *Redundant* front coding retains
//! less; readers accept it, no writer here makes it.
//!
//! [`mod@frame`] reads one frame, [`encoder`] writes a whole stream in the simplest way, [`decoder`] walks one.

pub mod decoder;
pub mod encoder;
pub mod frame;
mod short;
#[cfg(test)]
mod tests;

pub use decoder::{EncodedCursor, KeyCursor};
pub use encoder::encode_batch;
pub use frame::Frame;
pub use short::ShortControls;
pub(crate) use short::{short_bits, short_bytes};
