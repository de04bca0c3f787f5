-- Tells everyone who listens which project has new rows.
CREATE FUNCTION overrule.tell_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('overrule', NEW.project::text);
    RETURN NULL;
END
$$;
CREATE TRIGGER state_told AFTER INSERT OR UPDATE ON overrule.state
    FOR EACH ROW EXECUTE FUNCTION overrule.tell_project();
CREATE TRIGGER judgment_told AFTER INSERT OR UPDATE ON overrule.judgment
    FOR EACH ROW EXECUTE FUNCTION overrule.tell_project();

-- What people have open: an item of a judgment, which they hold in a numbered slot until it
-- expires. `query`, `documents` and `place` tell the others what and where it is.
CREATE TABLE overrule.lease (
    project bigint NOT NULL REFERENCES overrule.project,
    item bytea NOT NULL,
    slot integer NOT NULL CHECK (slot > 0),
    person text NOT NULL,
    copy uuid NOT NULL,
    query text NOT NULL,
    documents text[] NOT NULL,
    place text NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    until timestamptz NOT NULL,
    PRIMARY KEY (project, item, slot)
);

-- The person who leases: whoever is connected if they may not read the judgments of all people, and
-- otherwise the given name.
CREATE FUNCTION overrule.lessee(named text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN has_table_privilege(session_user, 'overrule.judgment', 'SELECT') THEN named
        ELSE session_user::text END
$$;

-- Leases an item, or extends the lease, and returns whether it is held now. The person's own lease
-- comes first, then a slot that is free or has expired. A lease is taken by one statement, for
-- which others wait, so that two people never get the same slot. The function runs with the rights
-- of its owner, since an expired lease is another person's row.
CREATE FUNCTION overrule.lease_item(
    of_project bigint, of_item bytea, slots integer, by_copy uuid, by_person text,
    of_query text, of_documents text[], at_place text
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    me text := overrule.lessee(by_person);
    term interval := '5 minutes';
BEGIN
    -- Copies of one person that ask at once get one lease.
    PERFORM pg_advisory_xact_lock(hashtextextended(encode(of_item, 'hex'), of_project));
    UPDATE overrule.lease SET until = now() + term, copy = by_copy, place = at_place
    WHERE project = of_project AND item = of_item AND person = me AND until > now();
    IF FOUND THEN
        RETURN true;
    END IF;
    FOR free IN 1..least(slots, 100) LOOP
        INSERT INTO overrule.lease AS known
            (project, item, slot, person, copy, query, documents, place, until)
        VALUES (of_project, of_item, free, me, by_copy, of_query, of_documents, at_place,
            now() + term)
        ON CONFLICT (project, item, slot) DO UPDATE
        SET person = excluded.person, copy = excluded.copy, place = excluded.place, since = now(),
            until = excluded.until
        WHERE known.until <= now();
        IF FOUND THEN
            PERFORM pg_notify('overrule', of_project::text);
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$$;

-- Ends the leases of a copy, except for one item, and forgets those that have long expired.
CREATE FUNCTION overrule.release_items(
    of_project bigint, by_copy uuid, by_person text, except_item bytea
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- In one order, so that two of them never wait for each other. For whoever chooses the name, the
    -- leases of the copy under an earlier name end too.
    WITH ended AS (
        SELECT item, slot FROM overrule.lease WHERE project = of_project
        AND (copy = by_copy AND overrule.lessee(person) = person
            AND (item IS DISTINCT FROM except_item OR person <> overrule.lessee(by_person))
            OR until < now() - interval '1 hour')
        ORDER BY item, slot FOR UPDATE
    )
    DELETE FROM overrule.lease USING ended
    WHERE project = of_project AND lease.item = ended.item AND lease.slot = ended.slot;
    IF FOUND THEN
        PERFORM pg_notify('overrule', of_project::text);
    END IF;
END
$$;
