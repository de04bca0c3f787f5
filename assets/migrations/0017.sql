-- The weights that a judge's model was seen with, as its server lists them or as an answer says; a row where they are others
-- than before. `votes_before`: the judge's votes until then. Rows are only ever added.
CREATE TABLE judge_weights (
    id           INTEGER PRIMARY KEY,
    judge        INTEGER NOT NULL REFERENCES judge (id),
    fingerprint  TEXT NOT NULL,
    votes_before INTEGER NOT NULL,
    seen_ms      INTEGER NOT NULL
) STRICT;
CREATE INDEX judge_weights_judge ON judge_weights (judge);
