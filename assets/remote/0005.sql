-- The round that a unit is a part of, if pairs are chosen from the answers to earlier rounds. A unit
-- that has a round and no part stands for planning the round.
ALTER TABLE overrule.unit ADD COLUMN round integer;
-- Unit 0 of a piece is the cost of a worker's other calls.
ALTER TABLE overrule.unit ADD CHECK (id > 0);
CREATE UNIQUE INDEX unit_round ON overrule.unit (job, md5(query), round, coalesce(part, -1))
    WHERE round IS NOT NULL;

-- Rounds are planned while there is nothing else to do.
DROP INDEX overrule.unit_open;
CREATE INDEX unit_open ON overrule.unit (job, (part IS NULL), id) WHERE NOT done;

-- The IDs of units that are added to a job. Those with which it begins are smaller.
CREATE SEQUENCE overrule.unit_id AS integer MINVALUE 1073741824;
