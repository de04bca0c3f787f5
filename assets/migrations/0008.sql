-- The ledger of paid calls. An attempt is a row before it is sent. When it ends, and its cost stands with a vote, failure
-- or pick, or it cost nothing, the row goes. Where nothing else says what it cost the row stays, with `cost_usd`; where
-- the cost is not known, with the worst price as `assumed_usd`. `kept` says that a vote, failure or pick without a cost is
-- about the same attempt. A row without `ended_ms` is in flight, or was cut short by a kill.
CREATE TABLE call (
    uid         BLOB PRIMARY KEY,
    purpose     TEXT NOT NULL,
    service     TEXT NOT NULL,
    run         INTEGER REFERENCES run (id),
    worst_usd   REAL,
    sent_ms     INTEGER NOT NULL,
    ended_ms    INTEGER,
    cause       TEXT,
    cost_usd    REAL,
    assumed_usd REAL,
    kept        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- `again`: the question was still to be asked once more when this was written: the failure is not the last word.
ALTER TABLE failure ADD COLUMN again INTEGER NOT NULL DEFAULT 0;
