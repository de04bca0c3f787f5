-- Rank intervals hold 95 % where they held 90 %, so the widths in the summaries are computed anew.
DELETE FROM summary;
