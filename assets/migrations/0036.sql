-- Pairs about which a judge is asked with manipulated texts, chosen once. `judge`: its name. `identity`: the hash of its name, provider,
-- model, prompt and parameters.
CREATE TABLE battery_set (
    uid        TEXT PRIMARY KEY,
    judge      TEXT NOT NULL,
    identity   BLOB NOT NULL,
    model      TEXT NOT NULL,
    author     TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The pairs in their order: `place` from 0. `first` is shown first, unless the order is swapped. `key`: the hash of the judge and of
-- everything that it is sent without a manipulation. `vote`: the margin of the judge's vote on the same question before, negative if
-- `first` is better; null without one. The answers are in `rerank_call`.
CREATE TABLE battery_pair (
    battery_set TEXT NOT NULL,
    place       INTEGER NOT NULL,
    query       TEXT NOT NULL,
    first       TEXT NOT NULL,
    second      TEXT NOT NULL,
    key         BLOB NOT NULL,
    vote        REAL CHECK (vote BETWEEN -1 AND 1),
    PRIMARY KEY (battery_set, place)
) STRICT, WITHOUT ROWID;
