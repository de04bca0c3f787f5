-- A project that people share.
CREATE TABLE overrule.project (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name text NOT NULL UNIQUE,
    created timestamptz NOT NULL DEFAULT now()
);

-- A file of a shared project, and the person who works with it.
CREATE TABLE overrule.copy (
    id uuid PRIMARY KEY,
    project bigint NOT NULL REFERENCES overrule.project,
    person text NOT NULL,
    seen timestamptz NOT NULL DEFAULT now(),
    -- Number of its changes that are not here yet.
    waiting bigint NOT NULL DEFAULT 0
);
CREATE INDEX copy_project ON overrule.copy (project);

-- The rows of a query (kind `query`), or of a part of the project that belongs to no query, as a
-- small project without texts. Whoever replaces a version has merged it.
CREATE TABLE overrule.state (
    project bigint NOT NULL REFERENCES overrule.project,
    kind text NOT NULL,
    subject text NOT NULL,
    -- The order of the queries in the project that had it first.
    place bigint NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    copy uuid NOT NULL,
    body bytea NOT NULL CHECK (octet_length(body) <= 134217728),
    -- The transaction that wrote it. Readers return to the oldest one in progress.
    changed xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (project, kind, subject)
);
ALTER TABLE overrule.state ALTER body SET STORAGE EXTERNAL;
CREATE INDEX state_changed ON overrule.state (project, changed);

-- The texts of documents, compressed with zstd, by their hashes.
CREATE TABLE overrule.text (
    project bigint NOT NULL REFERENCES overrule.project,
    hash bytea NOT NULL,
    body bytea NOT NULL CHECK (octet_length(body) <= 134217728),
    PRIMARY KEY (project, hash)
);
ALTER TABLE overrule.text ALTER body SET STORAGE EXTERNAL;

-- Verdicts, rulings and their undos, which never change. `item`: the hash of what they are about.
CREATE TABLE overrule.judgment (
    project bigint NOT NULL REFERENCES overrule.project,
    uid text NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL,
    person text NOT NULL,
    query text NOT NULL,
    item bytea NOT NULL,
    -- The version of the schema of the rows in it.
    form integer NOT NULL,
    body bytea NOT NULL CHECK (octet_length(body) <= 16777216),
    copy uuid NOT NULL,
    changed xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (project, uid)
);
CREATE INDEX judgment_changed ON overrule.judgment (project, changed, seq);
