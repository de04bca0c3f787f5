-- A judgment is known by its person too, so that nobody can take the ID of another person's.
ALTER TABLE overrule.judgment DROP CONSTRAINT judgment_pkey,
    ADD PRIMARY KEY (project, person, kind, uid);
CREATE INDEX judgment_item ON overrule.judgment (project, item);

-- The transaction that wrote a piece is not for the client to say.
CREATE FUNCTION overrule.note_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.changed := pg_current_xact_id();
    RETURN NEW;
END
$$;
CREATE TRIGGER piece_noted BEFORE INSERT OR UPDATE ON overrule.piece
    FOR EACH ROW EXECUTE FUNCTION overrule.note_change();

-- Clients read states and judgments through the functions below, since a condition in a client's
-- statement could be tried on hidden rows first. Whoever may read the table of judgments reads all rows.
CREATE FUNCTION overrule.reads_all() RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT has_table_privilege(session_user, 'overrule.judgment', 'SELECT') $$;

-- The kinds of states that the user may read, NULL for all: without that right, the parts of a project
-- that tell nothing about the judgments of people.
CREATE FUNCTION overrule.readable_kinds() RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN NOT overrule.reads_all() THEN ARRAY['query', 'labels', 'rankings', 'ledger',
        'log', 'reranking calls', 'links', 'lists', 'drift sets', 'batteries'] END
$$;

-- The items that the user has judged, in transactions that cannot be rolled back any more.
CREATE FUNCTION overrule.judged(of_project bigint) RETURNS SETOF bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT item FROM overrule.judgment
    WHERE project = of_project AND person = session_user AND kind IN ('verdict', 'ruling')
    AND changed IS DISTINCT FROM pg_current_xact_id_if_assigned()
$$;

CREATE FUNCTION overrule.changed_states(of_project bigint, from_transaction xid8)
RETURNS TABLE (kind text, subject text, version bigint, size bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    readable text[] := overrule.readable_kinds();
BEGIN
    RETURN QUERY SELECT state.kind, state.subject, state.version, octet_length(state.body)::bigint
    FROM overrule.state
    WHERE state.project = of_project AND state.changed >= from_transaction
    AND (readable IS NULL OR state.kind = ANY (readable))
    ORDER BY state.kind <> 'query', state.kind, state.place, state.subject;
END
$$;

CREATE FUNCTION overrule.states(of_project bigint, kinds text[], subjects text[])
RETURNS TABLE (kind text, subject text, version bigint, place bigint, body bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    readable text[] := overrule.readable_kinds();
BEGIN
    RETURN QUERY SELECT state.kind, state.subject, state.version, state.place, state.body
    FROM unnest(kinds, subjects) WITH ORDINALITY AS wanted (kind, subject, at)
    JOIN overrule.state ON state.project = of_project AND state.kind = wanted.kind
        AND state.subject = wanted.subject
    WHERE readable IS NULL OR state.kind = ANY (readable) ORDER BY wanted.at;
END
$$;

-- Judgments after a place in the order of their transactions, on these items if some are given: up
-- to `at_most` of them, and up to about 4 MiB.
CREATE FUNCTION overrule.judgments(
    of_project bigint, of_items bytea[], from_transaction xid8, after_seq bigint, at_most bigint
)
RETURNS TABLE (
    uid text, kind text, person text, query text, item bytea, form integer, body bytea,
    changed text, seq bigint
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    reads_all boolean := overrule.reads_all();
    me text := session_user;
BEGIN
    RETURN QUERY SELECT page.uid, page.kind, page.person, page.query, page.item, page.form,
        page.body, page.changed::text, page.seq
    FROM (
        SELECT j.*, sum(octet_length(j.body)) OVER (ORDER BY j.changed, j.seq)
            - octet_length(j.body) AS before
        FROM (
            SELECT * FROM overrule.judgment AS all_rows
            WHERE all_rows.project = of_project
            AND (all_rows.changed, all_rows.seq) > (from_transaction, after_seq)
            AND (of_items IS NULL OR all_rows.item = ANY (of_items))
            AND (reads_all OR all_rows.person = me
                OR all_rows.item IN (SELECT overrule.judged(of_project)))
            ORDER BY all_rows.changed, all_rows.seq LIMIT at_most
        ) AS j
    ) AS page
    WHERE page.before < 4194304 ORDER BY page.changed, page.seq;
END
$$;

-- Whether other copies have stored anything since a transaction that the user can read.
CREATE FUNCTION overrule.has_news(of_project bigint, not_of uuid, from_transaction xid8)
RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    reads_all boolean := overrule.reads_all();
    readable text[] := overrule.readable_kinds();
    me text := session_user;
BEGIN
    RETURN EXISTS (SELECT FROM overrule.state
        WHERE state.project = of_project AND state.changed >= from_transaction
        AND state.copy <> not_of AND state.changed < pg_snapshot_xmax(pg_current_snapshot())
        AND (readable IS NULL OR state.kind = ANY (readable)))
    OR EXISTS (SELECT FROM overrule.judgment AS j
        WHERE j.project = of_project AND j.changed >= from_transaction
        AND j.copy <> not_of AND j.changed < pg_snapshot_xmax(pg_current_snapshot())
        AND (reads_all OR j.person = me OR j.item IN (SELECT overrule.judged(of_project))));
END
$$;
