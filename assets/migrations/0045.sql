-- A batch may also ask about lists of documents: its calls then belong to no run and no battle. `asked_as`: the name that the
-- judge had when the batch was submitted, on which the hashes of its calls depend.
CREATE TABLE new_batch (
    id           INTEGER PRIMARY KEY,
    uid          TEXT NOT NULL UNIQUE,
    judge        INTEGER NOT NULL REFERENCES judge (id),
    asked_as     TEXT NOT NULL,
    run          INTEGER REFERENCES run (id),
    remote       TEXT,
    state        TEXT NOT NULL,
    ended        INTEGER NOT NULL DEFAULT 0,
    failed       INTEGER NOT NULL DEFAULT 0,
    message      TEXT,
    submitted_ms INTEGER NOT NULL,
    checked_ms   INTEGER,
    closed_ms    INTEGER,
    account      TEXT,
    over_ms      INTEGER
) STRICT;
INSERT INTO new_batch
SELECT batch.id, uid, judge, name, run, remote, state, ended, failed, message, submitted_ms, checked_ms, closed_ms, account,
       over_ms
FROM batch JOIN judge ON judge.id = batch.judge;

CREATE TABLE new_batch_call (
    batch     INTEGER NOT NULL REFERENCES new_batch (id),
    number    INTEGER NOT NULL,
    battle    INTEGER REFERENCES battle (id),
    swapped   INTEGER,
    attempt   INTEGER,
    truncated INTEGER NOT NULL,
    call_key  BLOB NOT NULL,
    worst_usd REAL,
    done      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (batch, number)
) STRICT, WITHOUT ROWID;
INSERT INTO new_batch_call
SELECT batch, number, battle, swapped, attempt, truncated, call_key, worst_usd, done FROM batch_call;

DROP TABLE batch_call;
DROP TABLE batch;
ALTER TABLE new_batch RENAME TO batch;
ALTER TABLE new_batch_call RENAME TO batch_call;
CREATE INDEX batch_call_open ON batch_call (battle) WHERE done = 0;
CREATE INDEX batch_call_key ON batch_call (call_key) WHERE done = 0;
