-- The project file. Rows of vote, failure, verdict and undo are only ever added.
-- A verdict that only adds a reason to one given before `replaces` it, and is taken back with it.

CREATE TABLE setting (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE judge (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    provider    TEXT NOT NULL,
    model       TEXT NOT NULL,
    prompt_hash TEXT NOT NULL,
    params      TEXT NOT NULL,
    UNIQUE (name, provider, model, prompt_hash, params)
) STRICT;

-- Judges in order, as a JSON array of judge.id.
CREATE TABLE ensemble (
    id     INTEGER PRIMARY KEY,
    judges TEXT NOT NULL UNIQUE
) STRICT;

-- `depth`: documents from the top that a plan has entered into battle. `ensemble`: the judges whose votes count.
-- `revision` grows with every change to the query's rows.
CREATE TABLE query (
    id        INTEGER PRIMARY KEY,
    name      TEXT NOT NULL UNIQUE,
    text      TEXT NOT NULL,
    extra     TEXT NOT NULL,
    line      TEXT NOT NULL,
    dataset   TEXT NOT NULL,
    documents INTEGER NOT NULL,
    depth     INTEGER,
    ensemble  INTEGER REFERENCES ensemble (id),
    revision  INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE content (
    id   INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    text TEXT NOT NULL
) STRICT;

CREATE TABLE document (
    query    INTEGER NOT NULL REFERENCES query (id),
    position INTEGER NOT NULL,
    name     TEXT NOT NULL,
    title    TEXT,
    content  INTEGER NOT NULL REFERENCES content (id),
    metadata TEXT NOT NULL,
    extra    TEXT NOT NULL,
    score    REAL,
    PRIMARY KEY (query, position),
    UNIQUE (query, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    id         INTEGER PRIMARY KEY,
    uid        TEXT NOT NULL UNIQUE,
    seed       INTEGER NOT NULL,
    cycles     INTEGER NOT NULL,
    depth      INTEGER,
    ensemble   INTEGER NOT NULL REFERENCES ensemble (id),
    started_ms INTEGER NOT NULL,
    ended_ms   INTEGER,
    state      TEXT NOT NULL
) STRICT;

-- `a` and `b` are positions in the pool; `game` counts earlier battles of the same unordered pair.
CREATE TABLE battle (
    id     INTEGER PRIMARY KEY,
    query  INTEGER NOT NULL REFERENCES query (id),
    a      INTEGER NOT NULL,
    b      INTEGER NOT NULL,
    game   INTEGER NOT NULL,
    cycle  INTEGER NOT NULL,
    origin TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX battle_pair ON battle (query, min(a, b), max(a, b), game);

CREATE TABLE vote (
    id              INTEGER PRIMARY KEY,
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
    model           TEXT,
    stop_reason     TEXT,
    request_id      TEXT,
    reasoning       TEXT NOT NULL,
    raw             TEXT,
    UNIQUE (battle, judge)
) STRICT;
CREATE INDEX vote_call ON vote (call_key) WHERE call_key IS NOT NULL;

CREATE TABLE failure (
    id              INTEGER PRIMARY KEY,
    battle          INTEGER NOT NULL REFERENCES battle (id),
    judge           INTEGER NOT NULL REFERENCES judge (id),
    swapped         INTEGER NOT NULL,
    cause           TEXT NOT NULL,
    message         TEXT NOT NULL,
    attempt         INTEGER NOT NULL,
    tokens_input    INTEGER NOT NULL,
    tokens_output   INTEGER NOT NULL,
    cost_usd        REAL,
    latency_ms      REAL,
    run             INTEGER REFERENCES run (id),
    created_ms      INTEGER NOT NULL,
    raw             TEXT
) STRICT;
CREATE INDEX failure_battle ON failure (battle, judge);

CREATE TABLE verdict (
    uid        TEXT PRIMARY KEY,
    query      INTEGER NOT NULL REFERENCES query (id),
    a          INTEGER NOT NULL,
    b          INTEGER NOT NULL,
    decision   TEXT NOT NULL,
    note       TEXT,
    annotator  TEXT NOT NULL,
    blind      INTEGER NOT NULL,
    active_ms  INTEGER,
    replaces   TEXT REFERENCES verdict (uid),
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX verdict_pair ON verdict (query, a, b);

CREATE TABLE undo (
    uid        TEXT PRIMARY KEY,
    verdict    TEXT NOT NULL UNIQUE REFERENCES verdict (uid),
    annotator  TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A cache of what the query list shows; good while the revisions agree.
CREATE TABLE summary (
    query    INTEGER PRIMARY KEY REFERENCES query (id),
    revision INTEGER NOT NULL,
    value    TEXT NOT NULL
) STRICT;
