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
REVOKE ALL ON SCHEMA overrule
    FROM PUBLIC, overrule_annotator, overrule_curator, overrule_worker;
REVOKE ALL ON ALL TABLES IN SCHEMA overrule
    FROM PUBLIC, overrule_annotator, overrule_curator, overrule_worker;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA overrule
    FROM PUBLIC, overrule_annotator, overrule_curator, overrule_worker;
GRANT USAGE ON SCHEMA overrule TO overrule_annotator, overrule_curator, overrule_worker;
GRANT SELECT ON overrule.version TO overrule_annotator, overrule_curator, overrule_worker;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA overrule TO overrule_annotator, overrule_curator;

-- Curators read everything. Judgments can be added, but not changed.
GRANT SELECT ON ALL TABLES IN SCHEMA overrule TO overrule_curator;
GRANT INSERT, UPDATE ON overrule.job, overrule.worker, overrule.unit, overrule.piece, overrule.project,
    overrule.copy, overrule.state TO overrule_curator;
GRANT USAGE ON SEQUENCE overrule.unit_id TO overrule_curator, overrule_worker;
GRANT INSERT ON overrule.text, overrule.judgment TO overrule_curator;

-- Workers lease and push.
GRANT SELECT ON overrule.job, overrule.worker, overrule.unit, overrule.piece TO overrule_worker;
GRANT UPDATE (reserved) ON overrule.job TO overrule_worker;
GRANT INSERT, UPDATE ON overrule.worker TO overrule_worker;
GRANT INSERT (job, id, query, part, round, worker, leased_until),
    UPDATE (round, worker, leased_until, done) ON overrule.unit TO overrule_worker;
GRANT INSERT (job, unit, worker, votes, failures, body), UPDATE (votes, failures, body)
    ON overrule.piece TO overrule_worker;

-- Annotators judge under the names of their logins, and read states and judgments through functions.
GRANT SELECT ON overrule.project, overrule.copy, overrule.text, overrule.lease TO overrule_annotator;
GRANT INSERT (id, project, person, waiting), UPDATE (person, waiting, seen) ON overrule.copy
    TO overrule_annotator;
GRANT INSERT (project, uid, kind, person, query, item, form, body, copy) ON overrule.judgment
    TO overrule_annotator;

ALTER TABLE overrule.judgment ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS curates ON overrule.judgment;
CREATE POLICY curates ON overrule.judgment TO overrule_curator USING (true) WITH CHECK (true);
DROP POLICY IF EXISTS judges ON overrule.judgment;
CREATE POLICY judges ON overrule.judgment FOR INSERT TO overrule_annotator
WITH CHECK (
    person = session_user AND kind IN ('shown', 'verdict', 'undo', 'ruling', 'ruling_undo')
    AND octet_length(body) <= 1048576
);

ALTER TABLE overrule.copy ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS curates ON overrule.copy;
CREATE POLICY curates ON overrule.copy TO overrule_curator USING (true) WITH CHECK (true);
DROP POLICY IF EXISTS reads ON overrule.copy;
CREATE POLICY reads ON overrule.copy FOR SELECT TO overrule_annotator USING (true);
DROP POLICY IF EXISTS takes_part ON overrule.copy;
CREATE POLICY takes_part ON overrule.copy FOR INSERT TO overrule_annotator
WITH CHECK (person = session_user AND waiting >= 0);
DROP POLICY IF EXISTS is_seen ON overrule.copy;
CREATE POLICY is_seen ON overrule.copy FOR UPDATE TO overrule_annotator
USING (person = session_user)
WITH CHECK (person = session_user AND waiting >= 0 AND isfinite(seen) AND seen <= now());
