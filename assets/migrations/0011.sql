-- What calls about battles have led to and cost, added up by query and judge as they are kept. `asked` counts the votes of runs.
CREATE TABLE call_total (
    query           INTEGER NOT NULL REFERENCES query (id),
    judge           INTEGER NOT NULL REFERENCES judge (id),
    votes           INTEGER NOT NULL,
    votes_priced    INTEGER NOT NULL,
    votes_usd       REAL NOT NULL,
    asked           INTEGER NOT NULL,
    asked_priced    INTEGER NOT NULL,
    asked_usd       REAL NOT NULL,
    failures        INTEGER NOT NULL,
    failures_priced INTEGER NOT NULL,
    failures_usd    REAL NOT NULL,
    PRIMARY KEY (query, judge)
) STRICT, WITHOUT ROWID;

INSERT INTO call_total
SELECT query, judge,
       sum(voted), sum(voted AND usd IS NOT NULL), total(CASE WHEN voted THEN usd END),
       sum(asked), sum(asked AND usd IS NOT NULL), total(CASE WHEN asked THEN usd END),
       sum(NOT voted), sum(NOT voted AND usd IS NOT NULL), total(CASE WHEN NOT voted THEN usd END)
FROM (
    SELECT battle, judge, cost_usd AS usd, 1 AS voted, run IS NOT NULL AS asked FROM vote
    UNION ALL
    SELECT battle, judge, cost_usd, 0, 0 FROM failure
)
JOIN battle ON battle.id = battle
GROUP BY query, judge;
