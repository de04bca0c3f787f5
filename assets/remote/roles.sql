-- Rights of people and workers. A login gets them with, for instance,
-- `CREATE ROLE bob LOGIN PASSWORD '…' IN ROLE overrule_annotator`. Can be run again.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['overrule_annotator', 'overrule_curator', 'overrule_worker'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', name);
        END IF;
    END LOOP;
END
$$;
REVOKE ALL ON SCHEMA overrule FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA overrule FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA overrule FROM PUBLIC;
GRANT USAGE ON SCHEMA overrule TO overrule_annotator, overrule_curator, overrule_worker;
GRANT SELECT ON overrule.version TO overrule_annotator, overrule_curator, overrule_worker;

-- Curators read everything. Judgments can be added, but not changed.
GRANT SELECT ON ALL TABLES IN SCHEMA overrule TO overrule_curator;
GRANT INSERT, UPDATE ON overrule.job, overrule.worker, overrule.unit, overrule.piece, overrule.project,
    overrule.copy, overrule.state TO overrule_curator;
GRANT INSERT ON overrule.text, overrule.judgment TO overrule_curator;

-- Workers lease and push.
GRANT SELECT ON overrule.job, overrule.worker, overrule.unit, overrule.piece TO overrule_worker;
GRANT UPDATE (reserved) ON overrule.job TO overrule_worker;
GRANT INSERT, UPDATE ON overrule.worker TO overrule_worker;
GRANT UPDATE (worker, leased_until, done) ON overrule.unit TO overrule_worker;
GRANT INSERT, UPDATE ON overrule.piece TO overrule_worker;

-- Annotators judge under the name of their login, and read judgments of others on a pair or document
-- after one of theirs.
GRANT SELECT ON overrule.project, overrule.copy, overrule.state, overrule.text, overrule.judgment
    TO overrule_annotator;
GRANT INSERT (id, project, person, waiting), UPDATE (person, waiting, seen) ON overrule.copy
    TO overrule_annotator;
GRANT INSERT (project, uid, kind, person, query, item, form, body, copy) ON overrule.judgment
    TO overrule_annotator;
CREATE INDEX IF NOT EXISTS judgment_item ON overrule.judgment (project, item);
CREATE INDEX IF NOT EXISTS judgment_person ON overrule.judgment (person);

-- What the user has judged. It reads rows that the policies below depend on.
CREATE OR REPLACE FUNCTION overrule.judged() RETURNS TABLE (project bigint, item bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT project, item FROM overrule.judgment
    WHERE person = session_user AND kind IN ('verdict', 'ruling')
$$;
REVOKE ALL ON FUNCTION overrule.judged() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION overrule.judged() TO overrule_annotator;

ALTER TABLE overrule.judgment ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS curator ON overrule.judgment;
CREATE POLICY curator ON overrule.judgment TO overrule_curator USING (true) WITH CHECK (true);
DROP POLICY IF EXISTS reads ON overrule.judgment;
CREATE POLICY reads ON overrule.judgment FOR SELECT TO overrule_annotator
USING (
    person = session_user
    OR (project, item) IN (SELECT judged.project, judged.item FROM overrule.judged())
);
DROP POLICY IF EXISTS judges ON overrule.judgment;
CREATE POLICY judges ON overrule.judgment FOR INSERT TO overrule_annotator
WITH CHECK (
    person = session_user AND kind IN ('shown', 'verdict', 'undo', 'ruling', 'ruling_undo')
);

-- Answers in duels are not judgments on pairs, and stay with the curators.
ALTER TABLE overrule.state ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS curator ON overrule.state;
CREATE POLICY curator ON overrule.state TO overrule_curator USING (true) WITH CHECK (true);
DROP POLICY IF EXISTS reads ON overrule.state;
CREATE POLICY reads ON overrule.state FOR SELECT TO overrule_annotator USING (kind <> 'duels');

ALTER TABLE overrule.copy ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS curator ON overrule.copy;
CREATE POLICY curator ON overrule.copy TO overrule_curator USING (true) WITH CHECK (true);
DROP POLICY IF EXISTS reads ON overrule.copy;
CREATE POLICY reads ON overrule.copy FOR SELECT TO overrule_annotator USING (true);
DROP POLICY IF EXISTS takes_part ON overrule.copy;
CREATE POLICY takes_part ON overrule.copy FOR INSERT TO overrule_annotator
WITH CHECK (person = session_user);
DROP POLICY IF EXISTS is_seen ON overrule.copy;
CREATE POLICY is_seen ON overrule.copy FOR UPDATE TO overrule_annotator
USING (person = session_user) WITH CHECK (person = session_user);
