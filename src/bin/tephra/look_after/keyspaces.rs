//! `tephra keyspaces`: lists, creates and drops keyspaces.

use std::io::Write;
use std::sync::Arc;

use clap::{Args as ClapArgs, Subcommand};
use serde_json::json;
use tephradb::vfs::MemFs;
use tephradb::{Db, ExistingKeyspace, KeyspaceInfo, KeyspaceOptions, Options};

use crate::database::{
    Database, existing_keyspace, no_keyspace, open_to_read, open_to_write, shown_name, small_writes,
};
use crate::escape::escape;
use crate::failure::{Failure, Result};
use crate::figures::grouped;
use crate::output::{Json, facts, line};
use crate::space::Space;

const EXAMPLES: &str = "\
Examples:
  tephra keyspaces list --db visits
  tephra keyspaces create --db visits counters --law add-u64 --value-width 8
  tephra keyspaces create --db net routes --bits
  tephra keyspaces drop --db visits counters";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Keyspaces {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists keyspaces with their settings, and about how many keys and bytes they hold
    List(List),
    /// Creates a keyspace, and the database if there is none; its settings are fixed from then on
    Create(Create),
    /// Drops a keyspace with everything in it
    Drop(Drop),
}

#[derive(Debug, ClapArgs)]
struct List {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, ClapArgs)]
struct Create {
    #[command(flatten)]
    database: Database,
    /// Keys and values are strings of bits, not of bytes
    #[arg(long, conflicts_with = "law")]
    bits: bool,
    /// Every value has this width, in bytes (with --bits: in bits); a value of another is refused [default: any]
    #[arg(long, value_name = "N")]
    value_width: Option<u64>,
    /// Records of one key compose by this law: add-u64, max-u64, append-bytes, or one that your programs give
    /// [default: the newer value replaces the older]
    #[arg(long, value_name = "LAW")]
    law: Option<String>,
    /// Size at which a compaction starts its next table [default: that of the database]
    #[arg(long, value_name = "BYTES")]
    target_table_bytes: Option<u64>,
    /// Name of the keyspace
    name: String,
}

#[derive(Debug, ClapArgs)]
struct Drop {
    #[command(flatten)]
    database: Database,
    /// Name of the keyspace
    name: String,
}

pub(crate) fn keyspaces(args: &Keyspaces, out: &mut dyn Write) -> Result<()> {
    match &args.action {
        Action::List(list) => self::list(list, out),
        Action::Create(create) => self::create(create),
        Action::Drop(drop) => self::drop(drop),
    }
}

fn list(args: &List, out: &mut dyn Write) -> Result<()> {
    let db = open_to_read(&args.database.db)?;
    if !args.json.json {
        line(
            out,
            format_args!(
                "{:<24} {:>14} {:>8} {:>16}  settings",
                "name", "keys, about", "tables", "bytes"
            ),
        )?;
    }
    for info in db.keyspace_infos() {
        let (key_count, size) = Space::open(&db, &info.name)?.estimate()?;
        if args.json.json {
            facts(
                out,
                &json!({
                    "name": info.name, "is_default": info.name.is_empty(),
                    "keys_about": key_count, "tables": size.table_count, "table_bytes": size.table_bytes,
                    "unit": if info.is_of_bits { "bits" } else { "bytes" },
                    "value_width": info.value_width_units, "law": info.law, "is_law_known": info.is_law_known,
                    "target_table_bytes": info.target_table_bytes,
                }),
            )?;
        } else {
            line(
                out,
                format_args!(
                    "{:<24} {:>14} {:>8} {:>16}  {}",
                    shown_name(&info.name),
                    grouped(key_count),
                    grouped(size.table_count as u64),
                    grouped(size.table_bytes),
                    settings(&info)
                ),
            )?;
        }
    }
    Ok(())
}

/// The settings in words.
fn settings(info: &KeyspaceInfo) -> String {
    let unit = if info.is_of_bits { "bits" } else { "bytes" };
    let mut words = vec![unit.to_owned()];
    if let Some(width) = info.value_width_units {
        words.push(format!("values of {width}"));
    }
    if let Some(law) = &info.law {
        let known = if info.is_law_known { "" } else { ", not known here" };
        words.push(format!("law {}{known}", escape(law.as_bytes())));
    }
    if let Some(bytes) = info.target_table_bytes {
        words.push(format!("target tables of {} bytes", grouped(bytes)));
    }
    words.join(", ")
}

fn create(args: &Create) -> Result<()> {
    // Tried in memory first: settings that cannot be make no database.
    let trial = Db::open_with(Arc::new(MemFs::new()), "/", Options::default())?;
    if !args.name.is_empty() {
        create_as(&trial, args)?;
    }
    trial.close()?;
    let db = Db::open(&args.database.db, small_writes().create_if_missing(true))?;
    if existing_keyspace(&db, &args.name)?.is_some() {
        return Err(Failure::Unfit {
            reason: format!("there is a keyspace {:?} already", shown_name(&args.name)),
        });
    }
    create_as(&db, args)?;
    Ok(db.close()?)
}

fn create_as(db: &Db, args: &Create) -> Result<()> {
    let mut options = KeyspaceOptions::default();
    if let Some(bytes) = args.target_table_bytes {
        options = options.target_table_bytes(bytes);
    }
    if let Some(law) = &args.law {
        options = options.law_by_name(law);
    }
    if args.bits {
        if let Some(width) = args.value_width {
            options = options.value_width_bits(width);
        }
        db.bit_keyspace(&args.name, options)?;
    } else {
        if let Some(width) = args.value_width {
            options = options.value_width_bytes(usize::try_from(width).unwrap_or(usize::MAX));
        }
        db.keyspace(&args.name, options)?;
    }
    Ok(())
}

fn drop(args: &Drop) -> Result<()> {
    let db = open_to_write(&args.database.db)?;
    match existing_keyspace(&db, &args.name)? {
        None => return Err(no_keyspace(&db, &args.name)),
        Some(ExistingKeyspace::Bytes(keyspace)) => db.drop_keyspace(&keyspace)?,
        Some(ExistingKeyspace::Bits(keyspace)) => db.drop_bit_keyspace(&keyspace)?,
    }
    Ok(db.close()?)
}
