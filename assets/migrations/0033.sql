-- Acceptances: battles that need no verdict, with a guaranteed share of errors. `alpha`: the largest share of errors, fixed before the
-- controls were ruled on. `delta`: the probability that the share is larger. `seed`: of the draw. `battles`: their number in the frame.
CREATE TABLE acceptance (
    uid        TEXT PRIMARY KEY,
    alpha      REAL NOT NULL CHECK (alpha > 0 AND alpha < 1),
    delta      REAL NOT NULL CHECK (delta > 0 AND delta < 1),
    seed       INTEGER NOT NULL,
    battles    INTEGER NOT NULL,
    author     TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The battles of the frame, which had no verdict, by query. `votes`: hash of the votes from which the decisions follow. `battles`: a
-- JSON list of [better document, other document, score]; later fits do not change it.
CREATE TABLE acceptance_query (
    acceptance TEXT NOT NULL,
    query      TEXT NOT NULL,
    votes      BLOB NOT NULL,
    battles    TEXT NOT NULL,
    PRIMARY KEY (acceptance, query)
) STRICT, WITHOUT ROWID;

-- The battles that were drawn as controls, in the order in which they are offered: `place` from 0.
CREATE TABLE acceptance_control (
    acceptance TEXT NOT NULL,
    place      INTEGER NOT NULL,
    query      TEXT NOT NULL,
    better     TEXT NOT NULL,
    other      TEXT NOT NULL,
    score      REAL NOT NULL CHECK (score >= 0 AND score < 1e300),
    PRIMARY KEY (acceptance, place)
) STRICT, WITHOUT ROWID;
