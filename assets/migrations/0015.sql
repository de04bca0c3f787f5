-- What the votes name: the document shown first, or neither; the others name the second.
ALTER TABLE call_total ADD COLUMN named_first INTEGER NOT NULL DEFAULT 0;
ALTER TABLE call_total ADD COLUMN tied INTEGER NOT NULL DEFAULT 0;

UPDATE call_total SET
    named_first = coalesce((
        SELECT sum(CASE WHEN vote.swapped THEN vote.margin > 0 ELSE vote.margin < 0 END)
        FROM battle JOIN vote ON vote.battle = battle.id AND vote.judge = call_total.judge
        WHERE battle.query = call_total.query), 0),
    tied = coalesce((
        SELECT sum(vote.margin = 0)
        FROM battle JOIN vote ON vote.battle = battle.id AND vote.judge = call_total.judge
        WHERE battle.query = call_total.query), 0);
