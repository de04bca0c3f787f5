-- The grades that one judge gave some documents of a query, its anchors, each by itself: a scale over queries rests on them.
-- Columns as those of rerank_result; the latest row of a query and method counts.
CREATE TABLE anchor_result (
    id           INTEGER PRIMARY KEY,
    uid          BLOB NOT NULL UNIQUE,
    query        INTEGER NOT NULL REFERENCES query (id),
    method       TEXT NOT NULL,
    judges       TEXT NOT NULL,
    identity     BLOB NOT NULL,
    ranking      TEXT,
    scores       TEXT,
    calls        INTEGER NOT NULL,
    failed_calls INTEGER NOT NULL,
    tokens_in    INTEGER NOT NULL,
    tokens_out   INTEGER NOT NULL,
    cost_usd     REAL,
    wall_ms      INTEGER,
    service_ms   INTEGER NOT NULL,
    repairs      INTEGER NOT NULL,
    truncated    INTEGER NOT NULL,
    failure      TEXT,
    created_ms   INTEGER NOT NULL
) STRICT;
CREATE INDEX anchor_result_query ON anchor_result (query, method, id);
