-- Evaluations of prompts on the held-out part of the regression set: one row per judge, prompt and state of the pairs. `identity`:
-- the hash of the judge with the prompt. `cases`: the hash of the pairs, of what people decided, and of both judges' answers.
-- `p`: of the exact McNemar test. `result`: the whole result, as JSON.
CREATE TABLE prompt_look (
    uid        TEXT PRIMARY KEY,
    judge      TEXT NOT NULL,
    hash       TEXT NOT NULL,
    identity   BLOB NOT NULL,
    cases      BLOB NOT NULL,
    pairs      INTEGER NOT NULL,
    p          REAL NOT NULL,
    result     TEXT NOT NULL,
    author     TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    UNIQUE (identity, cases)
) STRICT, WITHOUT ROWID;
