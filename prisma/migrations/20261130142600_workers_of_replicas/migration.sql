-- A host had one worker so far. By itself, so that nobody waits for it behind the locks of the migration before.
UPDATE "Replica" r SET "workerId" = w."id" FROM "Worker" w
WHERE w."hostId" = r."hostId" AND (r."endedAt" IS NULL OR r."endedAt" > now() - interval '1 day');
UPDATE "Worker" w SET "reason" = h."reason", "held" = coalesce(h."reason", '') LIKE 'It is silent for longer than its grace, as most hosts are%' FROM "Host" h WHERE h."id" = w."hostId" AND w."reachability" <> 'REACHABLE';

