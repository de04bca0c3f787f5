-- Votes as narrow rows: names by number, and what a judge wrote apart, once, compressed. Every project holds many times
-- more votes than anything else.

-- Models and stop reasons as providers name them.
CREATE TABLE name (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

-- What replies of this project have in common, so that each can be stored without it. Rows are never changed: replies
-- that were packed with one cannot be read without it.
CREATE TABLE dictionary (
    id    INTEGER PRIMARY KEY,
    hash  BLOB NOT NULL UNIQUE,
    bytes BLOB NOT NULL
) STRICT;

-- The text of an answer: reasoning, reply as it came, and the provider's name of the call. Votes that identical calls have
-- led to share it.
CREATE TABLE reply (
    id         INTEGER PRIMARY KEY,
    dictionary INTEGER REFERENCES dictionary (id),
    packed     BLOB NOT NULL
) STRICT;

DROP INDEX vote_call;
ALTER TABLE vote RENAME TO wide_vote;

-- Without `reply` nothing was written, or, in a vote of a run, what an embedded judge writes again at any time.
CREATE TABLE vote (
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
    run             INTEGER REFERENCES run (id),
    created_ms      INTEGER NOT NULL,
    call_key        BLOB,
    model           INTEGER REFERENCES name (id),
    stop_reason     INTEGER REFERENCES name (id),
    reply           INTEGER REFERENCES reply (id),
    PRIMARY KEY (battle, judge)
) STRICT, WITHOUT ROWID;

-- Priorities are kept in another form from here on, and made anew.
DELETE FROM urgency;
