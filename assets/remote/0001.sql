-- A run that many processes share. All of them agree on `terms`.
CREATE TABLE overrule.job (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uid uuid NOT NULL DEFAULT gen_random_uuid(),
    name text NOT NULL UNIQUE,
    terms text NOT NULL,
    created timestamptz NOT NULL DEFAULT now(),
    -- Millionths of a US dollar. Workers may only spend what they have reserved.
    budget bigint CHECK (budget >= 0),
    reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    CHECK (reserved <= budget)
);

-- A project file that works on a job.
CREATE TABLE overrule.worker (
    id uuid PRIMARY KEY,
    job bigint NOT NULL REFERENCES overrule.job,
    name text NOT NULL,
    started timestamptz NOT NULL DEFAULT now(),
    seen timestamptz NOT NULL DEFAULT now(),
    ended timestamptz,
    votes bigint NOT NULL DEFAULT 0,
    failures bigint NOT NULL DEFAULT 0,
    reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    spent bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
    -- The process that works as this worker.
    session uuid
);
CREATE INDEX worker_job ON overrule.worker (job);

-- The calls about some pairs of a query, or about a whole query.
CREATE TABLE overrule.unit (
    job bigint NOT NULL REFERENCES overrule.job,
    id integer NOT NULL,
    query text NOT NULL,
    part integer,
    worker uuid REFERENCES overrule.worker,
    leased_until timestamptz,
    done boolean NOT NULL DEFAULT false,
    PRIMARY KEY (job, id)
);
CREATE INDEX unit_open ON overrule.unit (job, id) WHERE NOT done;

-- The answers of a worker about a unit; unit 0 is the cost of its other calls. A later version
-- contains the earlier ones.
CREATE TABLE overrule.piece (
    job bigint NOT NULL REFERENCES overrule.job,
    unit integer NOT NULL,
    worker uuid NOT NULL REFERENCES overrule.worker,
    votes integer NOT NULL,
    failures integer NOT NULL,
    body bytea NOT NULL CHECK (octet_length(body) <= 16777216),
    -- The transaction that wrote it. Readers stop before the oldest one in progress.
    changed xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (job, unit, worker)
);
ALTER TABLE overrule.piece ALTER body SET STORAGE EXTERNAL;
CREATE INDEX piece_changed ON overrule.piece (job, changed);
