-- A question over queries that puts them on one scale: does document A serve query A better than document B serves query B.
-- Planned before anybody is asked. Queries and documents by name.
CREATE TABLE link (
    uid        BLOB PRIMARY KEY,
    round      INTEGER NOT NULL,
    query_a    TEXT NOT NULL,
    document_a TEXT NOT NULL,
    query_b    TEXT NOT NULL,
    document_b TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a judge answered: whether B serves its query better. A failed call has no row. The identity is the hash of the judge's
-- provider, model, prompt and parameters: with others it is asked again.
CREATE TABLE link_answer (
    link       BLOB NOT NULL REFERENCES link (uid),
    judge      TEXT NOT NULL,
    identity   BLOB NOT NULL,
    second     INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (link, judge, identity)
) STRICT, WITHOUT ROWID;
