-- How a project is shared through a server; at most one row. `project`: the project on the server. `copy`: this file among its copies;
-- `file` is its inode, as a copied file is another copy. `reached`: the server's transaction from which changes are read next.
-- `is_merging`: whether rows of the server are being merged, which do not count as changes. `changes`: number of changes so far.
CREATE TABLE sync (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    project    BLOB NOT NULL,
    copy       BLOB NOT NULL,
    file       INTEGER,
    reached    TEXT NOT NULL,
    is_merging INTEGER NOT NULL DEFAULT 0,
    changes    INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What was changed here and is not on the server. `kind`: query, a part of the project, or the table of a judgment. `subject`: the id of
-- the query, 0, or the uid of the judgment. `change`: the number of the last change.
CREATE TABLE unsynced (
    kind    TEXT NOT NULL,
    subject ANY NOT NULL,
    change  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;

-- The versions on the server that this project contains.
CREATE TABLE synced (
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;

-- Votes that do not count, since another copy of the project had asked the same question before.
CREATE TABLE duplicate_vote (
    battle          INTEGER NOT NULL REFERENCES battle (id),
    judge           INTEGER NOT NULL REFERENCES judge (id),
    swapped         INTEGER NOT NULL,
    margin          REAL NOT NULL CHECK (margin BETWEEN -1 AND 1),
    attempt         INTEGER NOT NULL,
    tokens_input    INTEGER NOT NULL,
    tokens_cached   INTEGER NOT NULL,
    tokens_output   INTEGER NOT NULL,
    tokens_thinking INTEGER NOT NULL,
    cost_usd        REAL,
    latency_ms      REAL,
    truncated       INTEGER NOT NULL,
    created_ms      INTEGER NOT NULL,
    reasoning       TEXT,
    PRIMARY KEY (battle, judge, created_ms, margin)
) STRICT, WITHOUT ROWID;
