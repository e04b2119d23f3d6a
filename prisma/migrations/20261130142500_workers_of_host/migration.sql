-- In the order of commits, so that none waits for this while this waits for it.
LOCK TABLE "Host", "Worker", "Replica", "HostPort" IN ACCESS EXCLUSIVE MODE;

-- AlterTable
ALTER TABLE "Replica" ADD COLUMN     "workerId" TEXT,
ADD COLUMN     "hostAddresses" TEXT[];

-- AlterTable
ALTER TABLE "Worker" ADD COLUMN     "reason" TEXT,
ADD COLUMN     "draining" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "held" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "registrationNumber" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "restored" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "HostPort" ADD COLUMN     "lostWorkerId" TEXT;

-- CreateIndex
CREATE INDEX "Replica_workerId_state_idx" ON "Replica"("workerId", "state");

-- CreateIndex
CREATE INDEX "HostPort_lostWorkerId_idx" ON "HostPort"("lostWorkerId");

-- CreateIndex
CREATE INDEX "Worker_hostId_idx" ON "Worker"("hostId");

-- CreateIndex
CREATE INDEX "Worker_instance_idx" ON "Worker"("instance");

-- A server that knows nothing of this places replicas on hosts only: they are the host's one worker's.
CREATE FUNCTION "name_worker_of_replica"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM "Worker" w WHERE w."id" = NEW."workerId" AND w."hostId" = NEW."hostId") THEN
    NEW."workerId" := (SELECT w."id" FROM "Worker" w WHERE w."hostId" = NEW."hostId" ORDER BY w."registeredAt" DESC LIMIT 1);
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER "name_worker_of_replica" BEFORE UPDATE ON "Replica" FOR EACH ROW
  WHEN (NEW."hostId" IS NOT NULL AND NEW."hostId" IS DISTINCT FROM OLD."hostId" AND NEW."workerId" IS NOT DISTINCT FROM OLD."workerId")
  EXECUTE FUNCTION "name_worker_of_replica"();

-- Nor does it know that a service remembers the addresses of its replicas' hosts: those of another host are forgotten.
CREATE FUNCTION "forget_addresses_of_host"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."hostAddresses" := NULL;
  RETURN NEW;
END
$$;
CREATE TRIGGER "forget_addresses_of_host" BEFORE UPDATE ON "Replica" FOR EACH ROW
  WHEN (NEW."hostId" IS DISTINCT FROM OLD."hostId" AND NEW."hostAddresses" IS NOT DISTINCT FROM OLD."hostAddresses")
  EXECUTE FUNCTION "forget_addresses_of_host"();
