-- List calls: one call shows several documents of a query, and the judge answers their order. The answers are in `rerank_call`, by
-- `key`: the hash of the judge and of everything that it is sent. `identity`: the hash of the judge's name, provider, model, prompt and
-- parameters. `form`: which part of the order is asked for. `shown`: the documents in the order in which they are shown, as a JSON list.
-- `plan`: how they were chosen. `round`: of the plan, for this query, from 0.
CREATE TABLE list_call (
    uid        TEXT PRIMARY KEY,
    query      TEXT NOT NULL,
    judge      TEXT NOT NULL,
    identity   BLOB NOT NULL,
    form       TEXT NOT NULL,
    shown      TEXT NOT NULL,
    plan       TEXT NOT NULL,
    round      INTEGER NOT NULL CHECK (round >= 0),
    key        BLOB NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX list_call_of_query ON list_call (query);

-- Tests of whether the lists of a judge may count: probes are list calls with the plan `probe`. The latest row of a judge and a kind of
-- list applies. `result`: passed, failed or undecided. `figures`: a JSON object.
CREATE TABLE list_qualification (
    uid        TEXT PRIMARY KEY,
    judge      TEXT NOT NULL,
    identity   BLOB NOT NULL,
    size       INTEGER NOT NULL,
    form       TEXT NOT NULL,
    result     TEXT NOT NULL,
    figures    TEXT NOT NULL,
    author     TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
