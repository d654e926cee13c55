//! The process that writes until it is killed.

use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use tephradb::Db;

use super::script::{Places, THREADS, durability, options};
use crate::failure::{Failure, Result};

/// Commits on four threads until it is killed or nobody listens any more. Every acknowledged commit is one line of the output; a
/// thread goes on when its line has been taken over.
pub(crate) fn run(dir: &Path, out: &mut dyn Write) -> Result<()> {
    // The parent has made it; where it is gone, the parent was interrupted.
    let db = Db::open(dir, options().create_if_missing(false))?;
    let places = Places::of(&db)?;
    let (told, tell) = sync_channel(0);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let (db, places, told) = (&db, &places, told.clone());
                scope.spawn(move || write(db, places, number, &told))
            })
            .collect();
        drop(told);
        let outcome = tell.iter().try_for_each(|(thread, count): (u32, u64)| {
            writeln!(out, "{thread} {count}").and_then(|()| out.flush())
        });
        // Nobody takes anything over any more: the threads end.
        drop(tell);
        let ends = threads.into_iter().map(|thread| thread.join().unwrap_or(Ok(())));
        ends.collect::<Result<Vec<()>>>()?;
        outcome.map_err(Failure::Output)
    })
}

fn write(db: &Db, places: &Places, thread: u32, told: &SyncSender<(u32, u64)>) -> Result<()> {
    let mut count = places.counter(thread)?;
    loop {
        count += 1;
        let mut batch = db.batch();
        places.fill(&mut batch, thread, count);
        batch.commit(durability(count))?;
        if told.send((thread, count)).is_err() {
            return Ok(());
        }
    }
}
