//! A span of keys among the arguments: all, those with a prefix, or those between two bounds.

use std::ffi::OsString;
use std::ops::Bound;

use clap::Args as ClapArgs;

use crate::failure::Result;
use crate::form::Forms;

/// The options that name a span of keys.
#[derive(Debug, ClapArgs)]
pub(crate) struct SpanArgs {
    /// Only keys that start with this
    #[arg(long, value_name = "KEY", conflicts_with_all = ["from", "to"])]
    pub(crate) prefix: Option<OsString>,
    /// Only this key and those behind it
    #[arg(long, value_name = "KEY")]
    pub(crate) from: Option<OsString>,
    /// Only keys before this one
    #[arg(long, value_name = "KEY")]
    pub(crate) to: Option<OsString>,
}

impl SpanArgs {
    /// The span they name.
    pub(crate) fn read(self, forms: &Forms) -> Result<Span> {
        let read = |what, argument: Option<OsString>| {
            argument
                .map(|argument| forms.read_key(what, argument))
                .transpose()
        };
        if let Some(prefix) = read("prefix", self.prefix)? {
            return Ok(Span::Prefix(prefix));
        }
        Ok(Span::Between(read("start", self.from)?, read("end", self.to)?))
    }

    /// Whether any bound was given.
    pub(crate) fn is_given(&self) -> bool {
        self.prefix.is_some() || self.from.is_some() || self.to.is_some()
    }

    /// Whether a bound was given that bounds anything: an empty prefix is all keys, and so are those from the empty one on.
    pub(crate) fn bounds_anything(&self) -> bool {
        let is_bound = |bound: &Option<OsString>| bound.as_ref().is_some_and(|bound| !bound.is_empty());
        is_bound(&self.prefix) || is_bound(&self.from) || self.to.is_some()
    }
}

/// A span of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    Prefix(Vec<u8>),
    /// From the first, included, to the second, excluded; each may be open.
    Between(Option<Vec<u8>>, Option<Vec<u8>>),
}

/// The bounds of a span.
pub(crate) type Bounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

impl Span {
    /// Its bounds among byte strings.
    pub(crate) fn bytes(&self) -> Bounds {
        self.bounds(0xff)
    }

    /// Its bounds among bit strings, as texts of 0s and 1s.
    pub(crate) fn bits(&self) -> Bounds {
        self.bounds(b'1')
    }

    /// Its bounds among strings whose largest symbol is `last`.
    fn bounds(&self, last: u8) -> Bounds {
        match self {
            Span::Prefix(prefix) => {
                // Behind all that starts with the prefix: its last symbol that can grow, grown.
                let kept = prefix.iter().rposition(|&symbol| symbol < last);
                let end = kept.map(|at| {
                    let mut end = prefix[..=at].to_vec();
                    end[at] += 1;
                    end
                });
                (
                    Bound::Included(prefix.clone()),
                    end.map_or(Bound::Unbounded, Bound::Excluded),
                )
            }
            Span::Between(from, to) => (
                from.clone().map_or(Bound::Unbounded, Bound::Included),
                to.clone().map_or(Bound::Unbounded, Bound::Excluded),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_behind_all_they_start() {
        let end = |prefix: &[u8]| Span::Prefix(prefix.to_vec()).bytes().1;
        assert_eq!(end(b"ab"), Bound::Excluded(b"ac".to_vec()));
        assert_eq!(end(b"a\xff\xff"), Bound::Excluded(b"b".to_vec()));
        assert_eq!(end(b"\xff"), Bound::Unbounded);
        assert_eq!(end(b""), Bound::Unbounded);
        let end = |prefix: &[u8]| Span::Prefix(prefix.to_vec()).bits().1;
        assert_eq!(end(b"0011"), Bound::Excluded(b"01".to_vec()));
        assert_eq!(end(b"11"), Bound::Unbounded);
        assert_eq!(end(b"10"), Bound::Excluded(b"11".to_vec()));
    }
}
