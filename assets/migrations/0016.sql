-- Battles of pairs that were fought before: few, and looked at by themselves to see what the order of presentation does.
CREATE INDEX battle_again ON battle (query) WHERE game > 0;
