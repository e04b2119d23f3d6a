-- A host had one worker so far. By itself, so that nobody waits for it behind the locks of the migration before; workers first, as commits lock them.
UPDATE "Worker" w SET "reason" = h."reason", "held" = coalesce(h."reason", '') LIKE 'It is silent for longer than its grace, as most hosts are%'
FROM "Host" h WHERE h."id" = w."hostId" AND w."reachability" <> 'REACHABLE';
-- What the services were told of the addresses of their replicas' hosts is what the hosts have.
UPDATE "Replica" r SET "workerId" = w."id", "hostAddresses" = CASE WHEN r."state" <> 'ENDED' THEN h."addresses" END
FROM "Worker" w JOIN "Host" h ON h."id" = w."hostId"
WHERE w."hostId" = r."hostId" AND (r."endedAt" IS NULL OR r."endedAt" > now() - interval '1 day');
