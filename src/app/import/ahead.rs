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
    /// What a read gives, after the records that were handed over before are stored.
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
