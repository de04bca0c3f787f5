-- Verdicts that programs propose to people; none of them counts. Queries and documents by name. `decision`: about document `a` against
-- `b`. `author`: the name that the program gives itself. Of several by the same author on a pair, the latest stands.
CREATE TABLE proposal (
    uid        TEXT PRIMARY KEY,
    query      TEXT NOT NULL,
    a          TEXT NOT NULL,
    b          TEXT NOT NULL CHECK (b != a),
    decision   TEXT NOT NULL,
    reason     TEXT NOT NULL,
    author     TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX proposal_query ON proposal (query);
