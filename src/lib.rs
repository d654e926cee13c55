//! tephradb: an embedded, ordered key-value store of front-coded tables.
