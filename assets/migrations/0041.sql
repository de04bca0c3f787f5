-- Short copies in the cache of priorities, for queues of many queries; `part` as in urgency_part. Part 0 holds all pairs of a query,
-- another one the most urgent pairs under a policy with a bound for the others. A row is valid if that of `urgency` is.
CREATE TABLE urgent (
    part  INTEGER NOT NULL,
    query INTEGER NOT NULL REFERENCES query (id),
    value BLOB NOT NULL,
    PRIMARY KEY (part, query)
) STRICT, WITHOUT ROWID;

-- The cache of the scores of each query, valid while the revisions agree. It is also filled where scores are computed without a summary,
-- and replaces `summary.scores`.
CREATE TABLE fitted_scores (
    query    INTEGER PRIMARY KEY REFERENCES query (id),
    revision INTEGER NOT NULL,
    scores   BLOB NOT NULL
) STRICT;
INSERT INTO fitted_scores SELECT query, revision, scores FROM summary
    WHERE scores IS NOT NULL AND query IN (SELECT id FROM query);
UPDATE summary SET scores = NULL WHERE scores IS NOT NULL;
