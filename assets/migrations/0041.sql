-- Short copies in the cache of priorities, for queues of many queries; `part` as in urgency_part. Part 0 holds all pairs of a query,
-- another one the most urgent pairs under a policy with a bound for the others. A row is valid if that of `urgency` is.
CREATE TABLE urgent (
    part  INTEGER NOT NULL,
    query INTEGER NOT NULL REFERENCES query (id),
    value BLOB NOT NULL,
    PRIMARY KEY (part, query)
) STRICT, WITHOUT ROWID;
