-- The copies in which the person has the item open. The lease ends with the last of them.
ALTER TABLE overrule.lease ADD COLUMN copies uuid[] NOT NULL DEFAULT '{}';
UPDATE overrule.lease SET copies = ARRAY[copy];
ALTER TABLE overrule.lease ALTER copies DROP DEFAULT, DROP COLUMN copy;

-- Leases an item, or extends the lease, and returns whether it is held now. The person's own lease
-- comes first, then a slot that is free or has expired. For a person who may not read the judgments
-- of others yet, whoever has judged the item has a slot too, according to the latest row of each
-- person here. An item that everyone is to judge has more slots than people. A lease is taken by one
-- statement, for which others wait, so that two people never get the same slot. The function runs
-- with the rights of its owner, since an expired lease is another person's row.
CREATE OR REPLACE FUNCTION overrule.lease_item(
    of_project bigint, of_item bytea, slots integer, by_copy uuid, by_person text,
    of_query text, of_documents text[], at_place text
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    me text := overrule.lessee(by_person);
    term interval := '5 minutes';
    judges text[];
BEGIN
    -- Copies of one person that ask at once get one lease.
    PERFORM pg_advisory_xact_lock(hashtextextended(encode(of_item, 'hex'), of_project));
    UPDATE overrule.lease SET until = now() + term, place = at_place,
        copies = array_remove(copies, by_copy) || by_copy
    WHERE project = of_project AND item = of_item AND person = me AND until > now();
    IF FOUND THEN
        RETURN true;
    END IF;
    IF NOT overrule.reads_all() THEN
        -- A copy sends its undos after its verdicts, and two copies may undo the same verdict: a judgment
        -- stands if it is the latest row, and if there are more of them than undos.
        judges := ARRAY(SELECT person FROM overrule.judgment
            WHERE project = of_project AND item = of_item AND kind <> 'shown'
            GROUP BY person HAVING (array_agg(kind ORDER BY seq DESC))[1] IN ('verdict', 'ruling')
                OR count(*) FILTER (WHERE kind IN ('verdict', 'ruling'))
                    > count(*) FILTER (WHERE kind IN ('undo', 'ruling_undo')));
        IF me <> ALL (judges) AND slots <= (SELECT count(*) FROM (
            SELECT unnest(judges) UNION SELECT person FROM overrule.lease
            WHERE project = of_project AND item = of_item AND until > now()) AS people)
        THEN
            RETURN false;
        END IF;
    END IF;
    FOR free IN 1..least(slots, 100) LOOP
        INSERT INTO overrule.lease AS known
            (project, item, slot, person, copies, query, documents, place, until)
        VALUES (of_project, of_item, free, me, ARRAY[by_copy], of_query, of_documents, at_place,
            now() + term)
        ON CONFLICT (project, item, slot) DO UPDATE
        SET person = excluded.person, copies = excluded.copies, place = excluded.place,
            since = now(), until = excluded.until
        WHERE known.until <= now();
        IF FOUND THEN
            PERFORM pg_notify('overrule', of_project::text);
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$$;

-- Ends the leases of a copy, except for one item, unless the person has the item open in another
-- copy, and forgets those that have long expired.
CREATE OR REPLACE FUNCTION overrule.release_items(
    of_project bigint, by_copy uuid, by_person text, except_item bytea
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    old timestamptz := now() - interval '1 hour';
BEGIN
    -- In one order, so that two of them never wait for each other. For whoever chooses the name, the
    -- leases of the copy under an earlier name end too.
    WITH closed AS (
        SELECT item, slot FROM overrule.lease WHERE project = of_project
        AND (by_copy = ANY (copies) AND overrule.lessee(person) = person
            AND (item IS DISTINCT FROM except_item OR person <> overrule.lessee(by_person))
            OR until < old)
        ORDER BY item, slot FOR UPDATE
    )
    UPDATE overrule.lease SET copies = array_remove(copies, by_copy) FROM closed
    WHERE project = of_project AND lease.item = closed.item AND lease.slot = closed.slot;
    DELETE FROM overrule.lease WHERE project = of_project AND (copies = '{}' OR until < old);
    IF FOUND THEN
        PERFORM pg_notify('overrule', of_project::text);
    END IF;
END
$$;
