//! One file an engine.

#[cfg(feature = "fjall")]
pub(crate) mod fjall;
#[cfg(feature = "lmdb")]
pub(crate) mod lmdb;
#[cfg(feature = "redb")]
pub(crate) mod redb;
#[cfg(feature = "rocksdb")]
pub(crate) mod rocksdb;
#[cfg(feature = "sled")]
pub(crate) mod sled;
#[cfg(feature = "tephradb")]
pub(crate) mod tephradb;

use crate::engine::Family;

/// An engine that was built in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) name: &'static str,
    pub(crate) family: Family,
}

/// The engines that were built in, in the order of the report.
pub(crate) const LISTED: &[Listed] = &[
    #[cfg(feature = "tephradb")]
    Listed {
        name: "tephradb",
        family: Family::Lsm,
    },
    #[cfg(feature = "fjall")]
    Listed {
        name: "fjall",
        family: Family::Lsm,
    },
    #[cfg(feature = "rocksdb")]
    Listed {
        name: "rocksdb",
        family: Family::Lsm,
    },
    #[cfg(feature = "sled")]
    Listed {
        name: "sled",
        family: Family::BTree,
    },
    #[cfg(feature = "redb")]
    Listed {
        name: "redb",
        family: Family::BTree,
    },
    #[cfg(feature = "lmdb")]
    Listed {
        name: "lmdb",
        family: Family::BTree,
    },
];

/// Calls a function that is generic over the engine with the engine of a name.
macro_rules! with_engine {
    ($name:expr, $function:ident ( $($argument:expr),* )) => {
        match $name {
            #[cfg(feature = "tephradb")]
            "tephradb" => $function::<crate::engines::tephradb::Tephra>($($argument),*),
            #[cfg(feature = "fjall")]
            "fjall" => $function::<crate::engines::fjall::Fjall>($($argument),*),
            #[cfg(feature = "rocksdb")]
            "rocksdb" => $function::<crate::engines::rocksdb::Rocks>($($argument),*),
            #[cfg(feature = "sled")]
            "sled" => $function::<crate::engines::sled::Sled>($($argument),*),
            #[cfg(feature = "redb")]
            "redb" => $function::<crate::engines::redb::Redb>($($argument),*),
            #[cfg(feature = "lmdb")]
            "lmdb" => $function::<crate::engines::lmdb::Lmdb<heed::WithTls>>($($argument),*),
            other => panic!("no engine {other} was built in"),
        }
    };
}
pub(crate) use with_engine;

/// All engines there can be, in the order of tables: a table may be made of lines of another build.
pub(crate) const ORDER: [&str; 6] = ["tephradb", "fjall", "rocksdb", "sled", "redb", "lmdb"];
