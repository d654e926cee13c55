//! A law with its name, and the laws a program knows.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use tephra_compaction::{Law, LawFailure, call_law};
use tephra_sstable::Byte;

use super::ready;
use super::traits::{Compose, ComposeWithKey, Composed};
use crate::error::{Error, Result};
use crate::settings::REPLACE;
use crate::sorted_map::SortedMap;

/// Longest name of a law in bytes.
const NAME_LEN_BYTES_MAX: usize = 255;

/// The two forms of a law.
#[derive(Clone)]
pub(super) enum Kind {
    Values(Arc<dyn Compose>),
    WithKey(Arc<dyn ComposeWithKey>),
}

/// A law under the name that manifests and tables know it by. Clones share it.
#[derive(Clone)]
pub(crate) struct NamedLaw {
    name: Arc<str>,
    kind: Kind,
    /// The one width of all values that the law composes; `None`: any.
    value_width_bytes: Option<usize>,
    /// Why the name cannot be used, for whoever checks options.
    refusal: Option<&'static str>,
}

impl NamedLaw {
    pub(super) fn new(name: &str, kind: Kind) -> Self {
        NamedLaw {
            name: Arc::from(name),
            value_width_bytes: match &kind {
                Kind::Values(law) => law.value_width_bytes(),
                Kind::WithKey(law) => law.value_width_bytes(),
            },
            kind,
            refusal: None,
        }
    }

    /// A law over values alone. What is wrong with the name comes out of [`NamedLaw::check`].
    pub(crate) fn values<L: Compose + 'static>(name: &str, law: L) -> Self {
        NamedLaw::new(name, Kind::Values(Arc::new(law))).checked(TypeId::of::<L>())
    }

    /// A law that sees the key.
    pub(crate) fn with_key<L: ComposeWithKey + 'static>(name: &str, law: L) -> Self {
        NamedLaw::new(name, Kind::WithKey(Arc::new(law))).checked(TypeId::of::<L>())
    }

    fn checked(mut self, law: TypeId) -> Self {
        let is_taken = ready::is_taken(&self.name, law);
        self.refusal = refusal_of(&self.name)
            .or_else(|| is_taken.then_some("the name belongs to another law, which is always known"));
        self
    }

    /// Refuses a name that no law can have.
    pub(crate) fn check_name(name: &str) -> Result<()> {
        refusal_of(name).map_or(Ok(()), |reason| Err(refused(name, reason)))
    }

    /// Refuses a name that cannot be used.
    pub(crate) fn check(&self) -> Result<()> {
        match self.refusal {
            None => Ok(()),
            Some(reason) => Err(refused(&self.name, reason)),
        }
    }

    /// The name.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The one width of all values that the law composes; `None`: any.
    pub(crate) fn value_width_bytes(&self) -> Option<usize> {
        self.value_width_bytes
    }

    /// Refuses a keyspace whose values all have a width that the law does not compose.
    pub(crate) fn check_value_width(&self, settled_bytes: Option<u64>) -> Result<()> {
        match (self.value_width_bytes, settled_bytes) {
            (Some(width), Some(settled)) if width as u64 != settled => Err(Error::InvalidOption {
                option: "value_width_bytes",
                reason: format!(
                    "is {settled}, but law {:?} composes values of {width} bytes",
                    &*self.name
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Composes two values of a key; a panic becomes a failure.
    pub(crate) fn compose(
        &self,
        key: &[u8],
        older: &[u8],
        newer: &[u8],
    ) -> std::result::Result<Composed, LawFailure> {
        struct Call<'a>(&'a [u8], &'a [u8], &'a [u8]);
        impl WithLaw for Call<'_> {
            type Outcome = std::result::Result<Composed, LawFailure>;
            fn run<L: Law<Byte>>(self, law: L) -> Self::Outcome {
                let Call(key, older, newer) = self;
                call_law::<Byte, L>(&law, L::NEEDS_KEY.then_some(key), older, newer)
            }
        }
        self.apply(Call(key, older, newer))
    }

    /// Runs something with the law in the form that the merger takes.
    pub(crate) fn apply<W: WithLaw>(&self, with: W) -> W::Outcome {
        match &self.kind {
            Kind::Values(law) => with.run(ValuesLaw {
                name: &self.name,
                law: &**law,
            }),
            Kind::WithKey(law) => with.run(KeyedLaw {
                name: &self.name,
                law: &**law,
            }),
        }
    }
}

/// Why no law can have a name.
fn refusal_of(name: &str) -> Option<&'static str> {
    if name.is_empty() || name.len() > NAME_LEN_BYTES_MAX {
        Some("the name of a law has 1 to 255 bytes")
    } else if name == REPLACE {
        Some("\"replace\" is what a keyspace without a law does")
    } else {
        None
    }
}

fn refused(name: &str, reason: &str) -> Error {
    Error::InvalidOption {
        option: "law",
        reason: format!("{name:?}: {reason}"),
    }
}

impl fmt::Debug for NamedLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedLaw").field(&self.name).finish()
    }
}

/// Work that is compiled once for each form of a law.
pub(crate) trait WithLaw {
    /// What comes of it.
    type Outcome;

    /// Does it.
    fn run<L: Law<Byte>>(self, law: L) -> Self::Outcome;
}

#[derive(Clone, Copy)]
struct ValuesLaw<'a> {
    name: &'a str,
    law: &'a dyn Compose,
}

impl Law<Byte> for ValuesLaw<'_> {
    const REPLACES: bool = false;
    const NEEDS_KEY: bool = false;

    fn name(&self) -> &str {
        self.name
    }

    fn compose(
        &self,
        _key: Option<&[u8]>,
        older: &[u8],
        newer: &[u8],
    ) -> std::result::Result<Composed, LawFailure> {
        self.law.compose(older, newer)
    }
}

#[derive(Clone, Copy)]
struct KeyedLaw<'a> {
    name: &'a str,
    law: &'a dyn ComposeWithKey,
}

impl Law<Byte> for KeyedLaw<'_> {
    const REPLACES: bool = false;
    const NEEDS_KEY: bool = true;

    fn name(&self) -> &str {
        self.name
    }

    fn compose(
        &self,
        key: Option<&[u8]>,
        older: &[u8],
        newer: &[u8],
    ) -> std::result::Result<Composed, LawFailure> {
        let key = key.expect("the key is given to a law that needs it");
        self.law.compose(key, older, newer)
    }
}

/// The laws a program knows by name: the ready ones and those it registered. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Laws {
    by_name: SortedMap<Arc<str>, NamedLaw>,
}

impl Default for Laws {
    fn default() -> Self {
        let by_name = ready::all().map(|law| (Arc::clone(law.name()), law));
        Laws {
            by_name: by_name.into_iter().collect(),
        }
    }
}

impl Laws {
    /// Not even the ready ones.
    pub(crate) fn none() -> Laws {
        Laws {
            by_name: SortedMap::new(),
        }
    }

    /// Adds a law, or replaces the one of that name.
    pub(crate) fn add(&mut self, law: NamedLaw) {
        self.by_name.insert(Arc::clone(law.name()), law);
    }

    /// The law of a name.
    pub(crate) fn find(&self, name: &str) -> Option<&NamedLaw> {
        self.by_name.get(name)
    }

    /// Refuses names that cannot be used.
    pub(crate) fn check(&self) -> Result<()> {
        self.by_name.values().try_for_each(NamedLaw::check)
    }
}
