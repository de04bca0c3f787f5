-- One call for a reranking method that has ended: an answer that was paid for, or a failure. `key`: the hash of the service
-- and of everything it was sent. `answer`: what was read, as JSON; null for a failed call. `raw`: the reply itself.
CREATE TABLE rerank_call (
    id            INTEGER PRIMARY KEY,
    uid           BLOB NOT NULL UNIQUE,
    key           BLOB NOT NULL,
    service       TEXT NOT NULL,
    answer        TEXT,
    readable      INTEGER NOT NULL,
    cause         TEXT,
    tokens_input  INTEGER NOT NULL,
    tokens_output INTEGER NOT NULL,
    cost_usd      REAL,
    latency_ms    REAL NOT NULL,
    truncated     INTEGER NOT NULL,
    model         TEXT,
    created_ms    INTEGER NOT NULL,
    message       TEXT,
    raw           TEXT
) STRICT;
CREATE INDEX rerank_call_key ON rerank_call (key, answer IS NULL);
CREATE INDEX rerank_call_service ON rerank_call (service, cost_usd);

-- What a method made of a query's candidates. The latest row of a query and method counts. `identity`: the hash of method,
-- judges and candidates. `ranking`: document ids, best first, as JSON; null for a failed query. `wall_ms`: null where some
-- answers were there before.
CREATE TABLE rerank_result (
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
CREATE INDEX rerank_result_query ON rerank_result (query, method, id);
