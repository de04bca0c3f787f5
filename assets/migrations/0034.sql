-- Pairs on which a judge is asked again and again, chosen once. `judge`: its name. `identity`: the hash of its name, provider, model,
-- prompt and parameters.
CREATE TABLE drift_set (
    uid        TEXT PRIMARY KEY,
    judge      TEXT NOT NULL,
    identity   BLOB NOT NULL,
    model      TEXT NOT NULL,
    author     TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The pairs in their order: `place` from 0. `first` is shown first in every call. `key`: the hash of the judge and of everything that
-- it is sent. `vote`: the margin of the judge's vote on the same question before, negative if `first` is better; null without one.
CREATE TABLE drift_pair (
    drift_set TEXT NOT NULL,
    place     INTEGER NOT NULL,
    query     TEXT NOT NULL,
    first     TEXT NOT NULL,
    second    TEXT NOT NULL,
    key       BLOB NOT NULL,
    vote      REAL CHECK (vote BETWEEN -1 AND 1),
    PRIMARY KEY (drift_set, place)
) STRICT, WITHOUT ROWID;

-- Rounds in which the judge is asked about all pairs: 0 and 1 at the start, then one for each check. The answers are in `rerank_call`.
CREATE TABLE drift_round (
    drift_set  TEXT NOT NULL,
    number     INTEGER NOT NULL CHECK (number >= 0),
    author     TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (drift_set, number)
) STRICT, WITHOUT ROWID;
