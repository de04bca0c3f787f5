-- Calls in flight, of which there are few, among all that were ever written down: every run begins with them.
CREATE INDEX call_open ON call (ended_ms) WHERE ended_ms IS NULL;
