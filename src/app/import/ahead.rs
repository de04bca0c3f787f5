//! Reads a file on another thread while the thread of the database stores what was read before.

use crate::store::{Db, StoreError};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Number of records that are handed over together.
const TOGETHER: usize = 64;

/// Number of such groups that are read ahead.
const AHEAD: usize = 16;

enum Message<T> {
    Records(Vec<T>),
    Lookup(Box<dyn FnOnce(&Db) + Send>),
}

/// The reading side: takes records, and looks things up in the project.
pub(super) struct ReadAhead<T> {
    send: SyncSender<Message<T>>,
    records: Vec<T>,
}

impl<T: Send> ReadAhead<T> {
    /// Hands over a record; false if no more are wanted.
    pub(super) fn put(&mut self, record: T) -> bool {
        self.records.push(record);
        self.records.len() < TOGETHER || self.flush()
    }

    fn flush(&mut self) -> bool {
        let records = std::mem::take(&mut self.records);
        self.send.send(Message::Records(records)).is_ok()
    }

    /// Looks things up in the project.
    pub(super) fn lookup(&self) -> Lookup<T> {
        Lookup(self.send.clone())
    }
}

/// Looks things up in the project from the reading thread.
pub(super) struct Lookup<T>(SyncSender<Message<T>>);

impl<T> Lookup<T> {
    /// What a read gives. The last records that were handed over may not be stored yet.
    ///
    /// # Errors
    /// That of the read, or nothing is wanted any more.
    pub(super) fn of<A: Send + 'static>(
        &self,
        read: impl FnOnce(&Db) -> Result<A, StoreError> + Send + 'static,
    ) -> Result<A, StoreError> {
        let (send, receive) = sync_channel(1);
        // Nobody waits for an answer after an error.
        let answer = move |db: &Db| drop(send.send(read(db)));
        let sent = self.0.send(Message::Lookup(Box::new(answer)));
        sent.map_err(|_| StoreError::Closed)?;
        receive.recv().map_err(|_| StoreError::Closed)?
    }
}

/// Passes the records that `read` hands over to `store`, one by one and in order. Stops at the
/// first error of `store`.
pub(super) fn read_ahead<T: Send, R: Send>(
    db: &Db,
    read: impl FnOnce(&mut ReadAhead<T>) -> R + Send,
    mut store: impl FnMut(T) -> Result<(), StoreError>,
) -> Result<R, StoreError> {
    let (send, receive) = sync_channel(AHEAD);
    thread::scope(|scope| {
        let reading = thread::Builder::new().name("import-reading".to_owned());
        let reading = reading.spawn_scoped(scope, move || {
            let mut ahead = ReadAhead {
                send,
                records: Vec::new(),
            };
            let result = read(&mut ahead);
            ahead.flush();
            result
        });
        let reading = reading.map_err(|error| {
            StoreError::Internal(format!("cannot start a reading thread: {error}"))
        })?;
        take_all(db, receive, &mut store)?;
        let result = reading.join();
        result.map_err(|panic| std::panic::resume_unwind(panic))
    })
}

/// Dropping the receiver tells the other thread that nothing is wanted any more.
fn take_all<T>(
    db: &Db,
    receive: Receiver<Message<T>>,
    store: &mut impl FnMut(T) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    for message in receive {
        match message {
            Message::Records(records) => {
                for record in records {
                    store(record)?;
                }
            }
            Message::Lookup(answer) => answer(db),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::fixtures::pool;

    #[test]
    fn records_are_stored_in_order_and_lookups_read_the_project() {
        let db = Db::scratch().unwrap();
        db.add_pool(&pool(1, 2), "set").unwrap();
        let numbers = 3 * TOGETHER + 1;
        let mut stored = Vec::new();
        let read = |ahead: &mut ReadAhead<usize>| {
            let wanted = (0..numbers).take_while(|number| ahead.put(*number)).count();
            let queries = ahead.lookup().of(|db| db.queries());
            (wanted, queries.unwrap().len())
        };
        let (wanted, queries) = read_ahead(&db, read, |number| {
            stored.push(number);
            Ok(())
        })
        .unwrap();
        assert_eq!((wanted, queries), (numbers, 1));
        assert_eq!(stored, Vec::from_iter(0..numbers));
    }

    #[test]
    fn an_error_of_storing_ends_the_reading() {
        let db = Db::scratch().unwrap();
        let read = |ahead: &mut ReadAhead<usize>| {
            (0..).take_while(|number| ahead.put(*number)).count();
            // Nobody answers any more.
            assert!(ahead.lookup().of(|_| Ok(())).is_err());
        };
        let stored = read_ahead(&db, read, |number| match number {
            7 => Err(StoreError::Conflict("seven".to_owned())),
            _ => Ok(()),
        });
        assert!(matches!(stored, Err(StoreError::Conflict(_))));
    }
}
