//! Keys that are strings of bits: a routing table of network prefixes of any length.
//!
//! ```text
//! cargo run --example bit_keys
//!
//! 10.0.0.0/8      00001010                      -> core
//! 10.32.0.0/11    00001010 001                  -> east
//! 10.32.7.0/24    00001010 00100000 00000111    -> lab
//! ```
//!
//! A network is the string of its leading bits, no byte more: networks order as their addresses do, a network stands in front
//! of those inside it, and "everything inside" is one prefix scan.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]
#![expect(clippy::unwrap_used, reason = "an example stops at the first error")]

use std::net::Ipv4Addr;

use tephradb::{BitKeyspace, BitStr, BitString, Db, KeyspaceOptions, Options};

fn main() -> tephradb::Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open(folder.path(), Options::default())?;
    let routes = db.bit_keyspace("routes", KeyspaceOptions::default())?;

    let networks = [
        ("10.0.0.0", 8, "core"),
        ("10.32.0.0", 11, "east"),
        ("10.32.7.0", 24, "lab"),
        ("192.168.0.0", 16, "home"),
    ];
    for (address, len, hop) in networks {
        routes.put(network(address, len).as_str(), text(hop))?;
    }
    db.flush()?;

    for (address, expected) in [
        ("10.32.7.9", "lab"),
        ("10.33.1.1", "east"),
        ("10.200.0.1", "core"),
    ] {
        let (found, hop) = longest_match(&routes, address)?.unwrap();
        println!("{address:<12} {}-bit network -> {hop}", found.len());
        assert_eq!(hop, expected);
    }
    assert!(longest_match(&routes, "11.0.0.1")?.is_none());

    let inside: Vec<u64> = routes
        .prefix(network("10.32.0.0", 11).as_str())
        .map(|item| item.unwrap().0.len())
        .collect();
    println!("inside 10.32.0.0/11: networks of {inside:?} bits");
    assert_eq!(inside, [11, 24]);
    Ok(())
}

/// The longest network that an address lies in. Looks at no network longer than the last one found to begin differently.
fn longest_match(routes: &BitKeyspace, address: &str) -> tephradb::Result<Option<(BitString, String)>> {
    let address = network(address, 32);
    let mut bound = address.clone();
    loop {
        // The greatest key up to the bound: the longest match lies at or in front of it.
        let Some(item) = routes.range(..=bound.as_str()).next_back() else {
            return Ok(None);
        };
        let (key, hop) = item?;
        let shared = key.as_str().lcp(&address.as_str());
        if shared == key.len() {
            let mut copy = BitString::new();
            copy.push_str(hop.bits());
            return Ok(Some((key, String::from_utf8(copy.into_bytes()).unwrap())));
        }
        bound.truncate(shared);
    }
}

/// The leading bits of an address.
fn network(address: &str, len: u32) -> BitString {
    let address: Ipv4Addr = address.parse().unwrap();
    let mut bits = BitString::new();
    bits.push_bits(u64::from(u32::from(address) >> (32 - len)), len);
    bits
}

/// Text as bits.
fn text(text: &str) -> BitStr<'_> {
    BitStr::from_bytes(text.as_bytes())
}
