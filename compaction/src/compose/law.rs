//! The traits a law implements, and the three forms in which a merger takes one.

use std::sync::Arc;

use tephra_sstable::Unit;

/// What a law makes of two values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Composed<V> {
    /// The older value stands; it is copied from the input, not through the law.
    Older,
    /// The newer value stands; it is copied from the input, not through the law.
    Newer,
    /// A value of the law's own.
    Owned(V),
}

/// Why a law gave no value.
#[derive(Debug, thiserror::Error)]
pub enum LawFailure {
    /// The law returned an error.
    #[error("it failed: {0}")]
    Failed(Box<dyn std::error::Error + Send + Sync>),
    /// The law panicked; the message is the panic's, where it was text.
    #[error("it panicked: {0}")]
    Panicked(String),
}

impl LawFailure {
    /// A failure from any error or message.
    pub fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(cause.into())
    }
}

/// A law over values alone. Called on the thread that steps the merger.
pub trait ComposeValues<U: Unit>: Send + Sync {
    /// Name stored beside tables written under this law.
    fn name(&self) -> &str;

    /// Composes two values of one key, `older` first.
    ///
    /// # Errors
    /// Any failure poisons the merge.
    fn compose(&self, older: U::Str<'_>, newer: U::Str<'_>) -> Result<Composed<U::Owned>, LawFailure>;
}

/// A law that also sees the key. Called on the thread that steps the merger.
pub trait ComposeWithKey<U: Unit>: Send + Sync {
    /// Name stored beside tables written under this law.
    fn name(&self) -> &str;

    /// Composes two values of `key`, `older` first.
    ///
    /// # Errors
    /// Any failure poisons the merge.
    fn compose(
        &self,
        key: U::Str<'_>,
        older: U::Str<'_>,
        newer: U::Str<'_>,
    ) -> Result<Composed<U::Owned>, LawFailure>;
}

impl<U: Unit, C: ComposeValues<U> + ?Sized> ComposeValues<U> for Arc<C> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn compose(&self, older: U::Str<'_>, newer: U::Str<'_>) -> Result<Composed<U::Owned>, LawFailure> {
        (**self).compose(older, newer)
    }
}

impl<U: Unit, C: ComposeWithKey<U> + ?Sized> ComposeWithKey<U> for Arc<C> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn compose(
        &self,
        key: U::Str<'_>,
        older: U::Str<'_>,
        newer: U::Str<'_>,
    ) -> Result<Composed<U::Owned>, LawFailure> {
        (**self).compose(key, older, newer)
    }
}

/// A law in the form a merger takes: its two constants choose the code that is compiled.
pub trait Law<U: Unit>: Send + Sync {
    /// The newer value always wins, so [`Law::compose`] is never called.
    const REPLACES: bool;
    /// [`Law::compose`] needs the key, so sources must be able to assemble it.
    const NEEDS_KEY: bool;

    /// Name stored beside tables written under this law.
    fn name(&self) -> &str;

    /// Composes two values, `older` first; `key` is given exactly if [`Law::NEEDS_KEY`].
    ///
    /// # Errors
    /// As the wrapped law.
    fn compose(
        &self,
        key: Option<U::Str<'_>>,
        older: U::Str<'_>,
        newer: U::Str<'_>,
    ) -> Result<Composed<U::Owned>, LawFailure>;
}

/// The default law: the newer value replaces the older one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replace;

impl<U: Unit> Law<U> for Replace {
    const REPLACES: bool = true;
    const NEEDS_KEY: bool = false;

    fn name(&self) -> &str {
        "replace"
    }

    fn compose(
        &self,
        _key: Option<U::Str<'_>>,
        _older: U::Str<'_>,
        _newer: U::Str<'_>,
    ) -> Result<Composed<U::Owned>, LawFailure> {
        Ok(Composed::Newer)
    }
}

/// A value-only law as a [`Law`].
#[derive(Clone, Copy, Debug)]
pub struct Values<C>(pub C);

impl<U: Unit, C: ComposeValues<U>> Law<U> for Values<C> {
    const REPLACES: bool = false;
    const NEEDS_KEY: bool = false;

    fn name(&self) -> &str {
        self.0.name()
    }

    fn compose(
        &self,
        _key: Option<U::Str<'_>>,
        older: U::Str<'_>,
        newer: U::Str<'_>,
    ) -> Result<Composed<U::Owned>, LawFailure> {
        self.0.compose(older, newer)
    }
}

/// A key-aware law as a [`Law`].
#[derive(Clone, Copy, Debug)]
pub struct WithKey<C>(pub C);

impl<U: Unit, C: ComposeWithKey<U>> Law<U> for WithKey<C> {
    const REPLACES: bool = false;
    const NEEDS_KEY: bool = true;

    fn name(&self) -> &str {
        self.0.name()
    }

    fn compose(
        &self,
        key: Option<U::Str<'_>>,
        older: U::Str<'_>,
        newer: U::Str<'_>,
    ) -> Result<Composed<U::Owned>, LawFailure> {
        let key = key.expect("a merger gives the key to a law that needs it");
        self.0.compose(key, older, newer)
    }
}
