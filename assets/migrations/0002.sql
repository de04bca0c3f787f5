-- Calls handed to a provider as a batch. A batch is open until `closed_ms`: its calls that are not done count as made,
-- so that nobody buys them a second time, and what they may cost counts as spent.
CREATE TABLE batch (
    id           INTEGER PRIMARY KEY,
    uid          TEXT NOT NULL UNIQUE,
    judge        INTEGER NOT NULL REFERENCES judge (id),
    run          INTEGER NOT NULL REFERENCES run (id),
    remote       TEXT,
    state        TEXT NOT NULL,
    ended        INTEGER NOT NULL DEFAULT 0,
    failed       INTEGER NOT NULL DEFAULT 0,
    message      TEXT,
    submitted_ms INTEGER NOT NULL,
    checked_ms   INTEGER,
    closed_ms    INTEGER
) STRICT;

-- `number` is what the provider sends back with the result.
CREATE TABLE batch_call (
    batch     INTEGER NOT NULL REFERENCES batch (id),
    number    INTEGER NOT NULL,
    battle    INTEGER NOT NULL REFERENCES battle (id),
    swapped   INTEGER NOT NULL,
    attempt   INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    call_key  BLOB NOT NULL,
    worst_usd REAL,
    done      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (batch, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX batch_call_open ON batch_call (battle) WHERE done = 0;
