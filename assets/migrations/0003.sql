-- Adjudication: how an item came before a person, what they were sure of, and what they put off.
-- A verdict given after the reveal `replaces` the blind one; `revealed_ms` says when the judges' votes were shown.
-- `inclusion`: the probability with which the queue's design put the pair before the person, NULL where it has none.
ALTER TABLE verdict ADD COLUMN confidence TEXT;
ALTER TABLE verdict ADD COLUMN cause TEXT;
ALTER TABLE verdict ADD COLUMN policy TEXT;
ALTER TABLE verdict ADD COLUMN role TEXT;
ALTER TABLE verdict ADD COLUMN inclusion REAL CHECK (inclusion > 0 AND inclusion <= 1);
ALTER TABLE verdict ADD COLUMN revealed_ms INTEGER;

-- A list of pairs that a queue has laid before one annotator, drawn in one go.
CREATE TABLE design (
    id         INTEGER PRIMARY KEY,
    uid        TEXT NOT NULL UNIQUE,
    annotator  TEXT NOT NULL,
    policy     TEXT NOT NULL,
    seed       INTEGER NOT NULL,
    scope      INTEGER REFERENCES query (id),
    created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE design_item (
    design    INTEGER NOT NULL REFERENCES design (id),
    position  INTEGER NOT NULL,
    query     INTEGER NOT NULL REFERENCES query (id),
    a         INTEGER NOT NULL,
    b         INTEGER NOT NULL,
    role      TEXT NOT NULL,
    inclusion REAL,
    done_ms   INTEGER,
    later_ms  INTEGER,
    PRIMARY KEY (design, position)
) STRICT, WITHOUT ROWID;

-- Pairs with a known answer, to measure people by.
CREATE TABLE gold (
    query    INTEGER NOT NULL REFERENCES query (id),
    a        INTEGER NOT NULL,
    b        INTEGER NOT NULL,
    decision TEXT NOT NULL,
    note     TEXT,
    PRIMARY KEY (query, a, b)
) STRICT, WITHOUT ROWID;

-- Battles that a sampler asked only some judges about: a battle with rows here wants these judges and no others.
CREATE TABLE task (
    battle INTEGER NOT NULL REFERENCES battle (id),
    judge  INTEGER NOT NULL REFERENCES judge (id),
    round  INTEGER NOT NULL,
    PRIMARY KEY (battle, judge)
) STRICT, WITHOUT ROWID;
