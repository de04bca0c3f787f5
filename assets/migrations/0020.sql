-- Two rankings that are held against each other. `settings`: top, seed and controls, as JSON.
CREATE TABLE duel (
    id         INTEGER PRIMARY KEY,
    uid        TEXT NOT NULL UNIQUE,
    form       TEXT NOT NULL,
    a          TEXT NOT NULL,
    b          TEXT NOT NULL,
    settings   TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;

-- What a duel shows of a query, at its place among the duel's queries. `documents`: as JSON, in the order chosen.
CREATE TABLE duel_query (
    duel      INTEGER NOT NULL REFERENCES duel (id),
    place     INTEGER NOT NULL,
    query     INTEGER NOT NULL REFERENCES query (id),
    documents TEXT NOT NULL,
    depth     INTEGER NOT NULL,
    shortfall TEXT NOT NULL,
    PRIMARY KEY (duel, place)
) STRICT, WITHOUT ROWID;

-- Who takes part in a duel, and as which number: tasks follow from it.
CREATE TABLE duel_participant (
    duel      INTEGER NOT NULL REFERENCES duel (id),
    annotator TEXT NOT NULL,
    number    INTEGER NOT NULL,
    joined_ms INTEGER NOT NULL,
    PRIMARY KEY (duel, annotator)
) STRICT, WITHOUT ROWID;

-- What participants did, only ever added to. `action`: as JSON.
CREATE TABLE duel_event (
    uid        TEXT PRIMARY KEY,
    duel       INTEGER NOT NULL REFERENCES duel (id),
    annotator  TEXT NOT NULL,
    task       TEXT NOT NULL,
    query      INTEGER NOT NULL REFERENCES query (id),
    action     TEXT NOT NULL,
    active_ms  INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX duel_event_duel ON duel_event (duel, annotator, uid);
