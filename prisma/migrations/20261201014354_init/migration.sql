-- CreateEnum
CREATE TYPE "ServiceStatus" AS ENUM ('HEALTHY', 'PROGRESSING', 'DEGRADED', 'PAUSED', 'STALLED', 'CRASH_LOOP', 'STOPPED', 'DELETING');

-- CreateEnum
CREATE TYPE "VersionOrigin" AS ENUM ('CREATE', 'UPDATE', 'ROLLBACK', 'AUTO_ROLLBACK', 'RESTART');

-- CreateEnum
CREATE TYPE "RolloutState" AS ENUM ('ROLLING', 'PAUSED', 'STALLED', 'COMPLETED', 'SUPERSEDED', 'ROLLED_BACK', 'CANCELLED');

-- CreateEnum
CREATE TYPE "ReplicaState" AS ENUM ('PENDING', 'STARTING', 'RUNNING', 'STOPPING', 'ENDED');

-- CreateEnum
CREATE TYPE "LeaveReason" AS ENUM ('DRAIN', 'RESTART', 'MOVED', 'REQUEUE');

-- CreateEnum
CREATE TYPE "EndReason" AS ENUM ('COMPLETED', 'EXITED', 'GAVE_UP', 'START_FAILED', 'HOST_LOST', 'KILLED', 'SCALED_DOWN', 'REPLACED_BY_ROLLOUT', 'SERVICE_DELETED', 'DRAINED', 'MOVED', 'REQUEUED');

-- CreateEnum
CREATE TYPE "TimerKind" AS ENUM ('BACKOFF', 'MIN_READY', 'BACKOFF_RESET', 'PROGRESS_DEADLINE', 'WATCH', 'CONTINUE');

-- CreateEnum
CREATE TYPE "HostScheduling" AS ENUM ('OPEN', 'CORDONED', 'DRAINING');

-- CreateEnum
CREATE TYPE "Reachability" AS ENUM ('REACHABLE', 'UNREACHABLE', 'LOST');

-- CreateEnum
CREATE TYPE "PortProtocol" AS ENUM ('TCP', 'UDP');

-- CreateEnum
CREATE TYPE "EventKind" AS ENUM ('SERVICE_CREATED', 'SERVICE_SCALED', 'SERVICE_UPDATED', 'SERVICE_DELETED', 'ROLLOUT', 'REPLICA', 'HOST', 'PROFILE', 'PROJECT');

-- CreateEnum
CREATE TYPE "RestartMode" AS ENUM ('ALWAYS', 'ON_FAILURE', 'NEVER');

-- CreateEnum
CREATE TYPE "LostContact" AS ENUM ('KEEP', 'STOP');

-- CreateEnum
CREATE TYPE "SpreadMode" AS ENUM ('NONE', 'BEST_EFFORT', 'STRICT');

-- CreateEnum
CREATE TYPE "BlockReason" AS ENUM ('QUEUED', 'BACKOFF', 'CRASH_LOOP', 'QUOTA', 'NO_HOST', 'NO_CAPACITY', 'NO_PORT', 'SPREAD', 'HOST_UNREACHABLE', 'HOST_DRAINING', 'REQUEUED', 'NO_ADDRESS', 'WAITING_FOR_READY', 'MIN_READY', 'STOPPING_OLD', 'ROLLOUT_PAUSED', 'PROGRESS_DEADLINE');

-- CreateTable
CREATE TABLE "Project" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "maxReplicas" INTEGER,
    "usedReplicas" INTEGER NOT NULL DEFAULT 0,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "removedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Project_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Queue" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "priority" INTEGER NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "removedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Queue_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Profile" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "currentRevision" INTEGER NOT NULL,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "annotations" JSONB NOT NULL DEFAULT '{}',
    "description" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "removedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Profile_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ProfileRevision" (
    "id" TEXT NOT NULL,
    "profileId" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "content" JSONB NOT NULL,
    "settings" JSONB NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "createdBy" TEXT NOT NULL,

    CONSTRAINT "ProfileRevision_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Service" (
    "id" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "queueId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "heldName" TEXT,
    "owner" TEXT NOT NULL,
    "guard" INTEGER NOT NULL DEFAULT 0,
    "revision" BIGINT NOT NULL,
    "specRevision" BIGINT NOT NULL,
    "desiredReplicas" INTEGER NOT NULL,
    "versionNumber" INTEGER NOT NULL,
    "profileRevisionId" TEXT NOT NULL,
    "settings" JSONB NOT NULL,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "annotations" JSONB NOT NULL DEFAULT '{}',
    "description" TEXT,
    "ownSettings" JSONB NOT NULL DEFAULT '{}',
    "paused" BOOLEAN NOT NULL DEFAULT false,
    "rolloutNumber" INTEGER NOT NULL,
    "completedVersion" INTEGER,
    "previousVersion" INTEGER,
    "provenVersion" INTEGER,
    "restartNumber" INTEGER,
    "activeReplicas" INTEGER NOT NULL DEFAULT 0,
    "runningReplicas" INTEGER NOT NULL DEFAULT 0,
    "readyReplicas" INTEGER NOT NULL DEFAULT 0,
    "availableReplicas" INTEGER NOT NULL DEFAULT 0,
    "updatedReplicas" INTEGER NOT NULL DEFAULT 0,
    "stoppingReplicas" INTEGER NOT NULL DEFAULT 0,
    "status" "ServiceStatus" NOT NULL,
    "growingUntil" TIMESTAMPTZ(3),
    "grownAvailable" INTEGER NOT NULL DEFAULT 0,
    "blockers" JSONB NOT NULL DEFAULT '[]',
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "deletionRequestedAt" TIMESTAMPTZ(3),
    "deletedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Service_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ServiceVersion" (
    "id" TEXT NOT NULL,
    "serviceId" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "profileRevisionId" TEXT NOT NULL,
    "content" JSONB NOT NULL,
    "overrides" JSONB NOT NULL,
    "template" JSONB NOT NULL,
    "contentDigest" TEXT NOT NULL,
    "contentNumber" INTEGER NOT NULL,
    "origin" "VersionOrigin" NOT NULL,
    "cause" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "createdBy" TEXT NOT NULL,

    CONSTRAINT "ServiceVersion_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Rollout" (
    "id" TEXT NOT NULL,
    "serviceId" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "fromVersion" INTEGER,
    "toVersion" INTEGER NOT NULL,
    "state" "RolloutState" NOT NULL,
    "automatic" BOOLEAN NOT NULL DEFAULT false,
    "blocker" JSONB,
    "updatedReplicas" INTEGER NOT NULL DEFAULT 0,
    "availableReplicas" INTEGER NOT NULL DEFAULT 0,
    "oldReplicas" INTEGER NOT NULL DEFAULT 0,
    "desiredReplicas" INTEGER NOT NULL,
    "maxSurge" INTEGER NOT NULL,
    "maxUnavailable" INTEGER NOT NULL,
    "minReadySeconds" INTEGER NOT NULL,
    "progressDeadlineSeconds" INTEGER NOT NULL,
    "bestAvailable" INTEGER NOT NULL DEFAULT 0,
    "leastOutdated" INTEGER NOT NULL DEFAULT 0,
    "startedAt" TIMESTAMPTZ(3) NOT NULL,
    "progressedAt" TIMESTAMPTZ(3) NOT NULL,
    "deadlineAt" TIMESTAMPTZ(3),
    "finishedAt" TIMESTAMPTZ(3),
    "troubledAt" TIMESTAMPTZ(3),
    "watchUntil" TIMESTAMPTZ(3),
    "startedBy" TEXT NOT NULL,
    "repeats" JSONB NOT NULL DEFAULT '{"cause": null, "waits": {}}',

    CONSTRAINT "Rollout_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Replica" (
    "id" TEXT NOT NULL,
    "serviceId" TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    "versionNumber" INTEGER NOT NULL,
    "contentNumber" INTEGER NOT NULL,
    "state" "ReplicaState" NOT NULL,
    "ready" BOOLEAN NOT NULL DEFAULT false,
    "readySince" TIMESTAMPTZ(3),
    "available" BOOLEAN NOT NULL DEFAULT false,
    "availableSince" TIMESTAMPTZ(3),
    "reportedReady" BOOLEAN NOT NULL DEFAULT false,
    "hostReachable" BOOLEAN NOT NULL DEFAULT true,
    "start" INTEGER NOT NULL DEFAULT 1,
    "leaving" "LeaveReason",
    "twinOf" TEXT,
    "hostId" TEXT,
    "workerId" TEXT,
    "hostAddresses" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "ports" JSONB NOT NULL DEFAULT '[]',
    "cpuMillis" INTEGER NOT NULL,
    "memoryMiB" INTEGER NOT NULL,
    "holdsQuota" BOOLEAN NOT NULL DEFAULT false,
    "blocker" JSONB,
    "notBefore" TIMESTAMPTZ(3),
    "portConflicts" INTEGER NOT NULL DEFAULT 0,
    "avoidHostId" TEXT,
    "stopReason" "EndReason",
    "stoppingAt" TIMESTAMPTZ(3),
    "endReason" "EndReason",
    "exitCode" INTEGER,
    "exitSignal" TEXT,
    "endMessage" TEXT,
    "lastProbe" JSONB,
    "lastExit" JSONB,
    "reportedEpoch" INTEGER NOT NULL DEFAULT 0,
    "reportedSequence" INTEGER NOT NULL DEFAULT 0,
    "repeats" JSONB NOT NULL DEFAULT '{}',
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "startedAt" TIMESTAMPTZ(3),
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Replica_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Slot" (
    "serviceId" TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    "contentNumber" INTEGER NOT NULL,
    "failures" INTEGER NOT NULL,
    "failedAt" TIMESTAMPTZ(3) NOT NULL,
    "retryAt" TIMESTAMPTZ(3) NOT NULL,
    "failedHostId" TEXT,
    "failedReason" "EndReason" NOT NULL,
    "failedMessage" TEXT,

    CONSTRAINT "Slot_pkey" PRIMARY KEY ("serviceId","index","contentNumber")
);

-- CreateTable
CREATE TABLE "Timer" (
    "serviceId" TEXT NOT NULL,
    "kind" "TimerKind" NOT NULL,
    "dueAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Timer_pkey" PRIMARY KEY ("serviceId","kind")
);

-- CreateTable
CREATE TABLE "Host" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "addresses" TEXT[],
    "scheduling" "HostScheduling" NOT NULL DEFAULT 'OPEN',
    "schedulingSince" TIMESTAMPTZ(3) NOT NULL,
    "reachability" "Reachability" NOT NULL DEFAULT 'REACHABLE',
    "reachabilitySince" TIMESTAMPTZ(3) NOT NULL,
    "reason" TEXT,
    "cpuMillis" INTEGER NOT NULL,
    "memoryMiB" INTEGER NOT NULL,
    "usedCpuMillis" INTEGER NOT NULL DEFAULT 0,
    "usedMemoryMiB" INTEGER NOT NULL DEFAULT 0,
    "portFrom" INTEGER NOT NULL,
    "portTo" INTEGER NOT NULL,
    "reservedPorts" INTEGER[],
    "usedPorts" INTEGER NOT NULL DEFAULT 0,
    "lastPort" INTEGER NOT NULL DEFAULT 0,
    "allocation" INTEGER NOT NULL DEFAULT 0,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "removedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Host_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "HostPort" (
    "hostId" TEXT NOT NULL,
    "port" INTEGER NOT NULL,
    "protocol" "PortProtocol" NOT NULL,
    "replicaId" TEXT,
    "lostWorkerId" TEXT,
    "quarantinedUntil" TIMESTAMPTZ(3),
    "conflicts" INTEGER NOT NULL DEFAULT 0,
    "watched" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "HostPort_pkey" PRIMARY KEY ("hostId","port","protocol")
);

-- CreateTable
CREATE TABLE "Worker" (
    "id" TEXT NOT NULL,
    "hostId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "leaseUntil" TIMESTAMPTZ(3) NOT NULL,
    "reachability" "Reachability" NOT NULL DEFAULT 'REACHABLE',
    "reachabilitySince" TIMESTAMPTZ(3) NOT NULL,
    "reason" TEXT,
    "draining" BOOLEAN NOT NULL DEFAULT false,
    "held" BOOLEAN NOT NULL DEFAULT false,
    "restored" BOOLEAN NOT NULL DEFAULT false,
    "cpuMillis" INTEGER NOT NULL,
    "memoryMiB" INTEGER NOT NULL,
    "softwareVersion" TEXT NOT NULL,
    "protocolVersion" INTEGER NOT NULL,
    "subject" TEXT NOT NULL,
    "stateDirectoryId" TEXT NOT NULL,
    "registrationNumber" INTEGER NOT NULL,
    "registeredAt" TIMESTAMPTZ(3) NOT NULL,
    "lastSeenAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Worker_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Server" (
    "id" TEXT NOT NULL,
    "startedAt" TIMESTAMPTZ(3) NOT NULL,
    "heartbeatAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Server_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ServerLease" (
    "name" TEXT NOT NULL,
    "holder" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ServerLease_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "Fact" (
    "revision" BIGINT NOT NULL,
    "serviceId" TEXT,
    "hostId" TEXT,
    "kind" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Fact_pkey" PRIMARY KEY ("revision")
);

-- CreateTable
CREATE TABLE "Event" (
    "revision" BIGINT NOT NULL,
    "kind" "EventKind" NOT NULL,
    "message" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "cause" TEXT,
    "projectId" TEXT,
    "serviceId" TEXT,
    "replicaId" TEXT,
    "hostId" TEXT,
    "count" INTEGER NOT NULL DEFAULT 1,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Event_pkey" PRIMARY KEY ("revision")
);

-- CreateTable
CREATE TABLE "Feed" (
    "id" INTEGER NOT NULL,
    "head" BIGINT NOT NULL,
    "floor" BIGINT NOT NULL,

    CONSTRAINT "Feed_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Batch" (
    "id" TEXT NOT NULL,
    "result" JSONB NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Batch_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "IdempotencyKey" (
    "subject" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "inputHash" TEXT NOT NULL,
    "result" JSONB NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "IdempotencyKey_pkey" PRIMARY KEY ("subject","operation","key")
);

-- CreateTable
CREATE TABLE "Token" (
    "id" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "roles" TEXT[],
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "TokenChanges" (
    "id" INTEGER NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "TokenChanges_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "Project_name_key" ON "Project"("name");

-- CreateIndex
CREATE UNIQUE INDEX "Queue_name_key" ON "Queue"("name");

-- CreateIndex
CREATE UNIQUE INDEX "Profile_name_key" ON "Profile"("name");

-- CreateIndex
CREATE UNIQUE INDEX "ProfileRevision_profileId_revision_key" ON "ProfileRevision"("profileId", "revision");

-- CreateIndex
CREATE INDEX "Service_name_idx" ON "Service"("name");

-- CreateIndex
CREATE INDEX "Service_createdAt_id_idx" ON "Service"("createdAt", "id");

-- CreateIndex
CREATE INDEX "Service_labels_idx" ON "Service" USING GIN ("labels");

-- CreateIndex
CREATE UNIQUE INDEX "Service_projectId_heldName_key" ON "Service"("projectId", "heldName");

-- CreateIndex
CREATE UNIQUE INDEX "ServiceVersion_serviceId_number_key" ON "ServiceVersion"("serviceId", "number");

-- CreateIndex
CREATE INDEX "Rollout_state_idx" ON "Rollout"("state");

-- CreateIndex
CREATE UNIQUE INDEX "Rollout_serviceId_number_key" ON "Rollout"("serviceId", "number");

-- CreateIndex
CREATE INDEX "Replica_serviceId_state_index_idx" ON "Replica"("serviceId", "state", "index");

-- CreateIndex
CREATE INDEX "Replica_serviceId_id_idx" ON "Replica"("serviceId", "id");

-- CreateIndex
CREATE INDEX "Replica_hostId_state_idx" ON "Replica"("hostId", "state");

-- CreateIndex
CREATE INDEX "Replica_hostId_id_idx" ON "Replica"("hostId", "id");

-- CreateIndex
CREATE INDEX "Replica_workerId_state_idx" ON "Replica"("workerId", "state");

-- CreateIndex
CREATE INDEX "Replica_state_notBefore_idx" ON "Replica"("state", "notBefore");

-- CreateIndex
CREATE INDEX "Replica_endedAt_idx" ON "Replica"("endedAt");

-- CreateIndex
CREATE INDEX "Timer_dueAt_idx" ON "Timer"("dueAt");

-- CreateIndex
CREATE UNIQUE INDEX "Host_name_key" ON "Host"("name");

-- CreateIndex
CREATE INDEX "HostPort_replicaId_idx" ON "HostPort"("replicaId");

-- CreateIndex
CREATE INDEX "HostPort_lostWorkerId_idx" ON "HostPort"("lostWorkerId");

-- CreateIndex
CREATE UNIQUE INDEX "Worker_name_key" ON "Worker"("name");

-- CreateIndex
CREATE INDEX "Worker_hostId_idx" ON "Worker"("hostId");

-- CreateIndex
CREATE INDEX "Worker_stateDirectoryId_idx" ON "Worker"("stateDirectoryId");

-- CreateIndex
CREATE INDEX "Fact_serviceId_revision_idx" ON "Fact"("serviceId", "revision");

-- CreateIndex
CREATE INDEX "Event_serviceId_revision_idx" ON "Event"("serviceId", "revision");

-- CreateIndex
CREATE INDEX "Event_projectId_revision_idx" ON "Event"("projectId", "revision");

-- CreateIndex
CREATE INDEX "Batch_at_idx" ON "Batch"("at");

-- CreateIndex
CREATE INDEX "IdempotencyKey_at_idx" ON "IdempotencyKey"("at");

-- CreateIndex
CREATE UNIQUE INDEX "Token_hash_key" ON "Token"("hash");

-- AddForeignKey
ALTER TABLE "ProfileRevision" ADD CONSTRAINT "ProfileRevision_profileId_fkey" FOREIGN KEY ("profileId") REFERENCES "Profile"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Service" ADD CONSTRAINT "Service_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Service" ADD CONSTRAINT "Service_queueId_fkey" FOREIGN KEY ("queueId") REFERENCES "Queue"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Service" ADD CONSTRAINT "Service_profileRevisionId_fkey" FOREIGN KEY ("profileRevisionId") REFERENCES "ProfileRevision"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ServiceVersion" ADD CONSTRAINT "ServiceVersion_serviceId_fkey" FOREIGN KEY ("serviceId") REFERENCES "Service"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ServiceVersion" ADD CONSTRAINT "ServiceVersion_profileRevisionId_fkey" FOREIGN KEY ("profileRevisionId") REFERENCES "ProfileRevision"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Rollout" ADD CONSTRAINT "Rollout_serviceId_fkey" FOREIGN KEY ("serviceId") REFERENCES "Service"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Rollout" ADD CONSTRAINT "Rollout_serviceId_fromVersion_fkey" FOREIGN KEY ("serviceId", "fromVersion") REFERENCES "ServiceVersion"("serviceId", "number") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Rollout" ADD CONSTRAINT "Rollout_serviceId_toVersion_fkey" FOREIGN KEY ("serviceId", "toVersion") REFERENCES "ServiceVersion"("serviceId", "number") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Replica" ADD CONSTRAINT "Replica_serviceId_fkey" FOREIGN KEY ("serviceId") REFERENCES "Service"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Replica" ADD CONSTRAINT "Replica_serviceId_versionNumber_fkey" FOREIGN KEY ("serviceId", "versionNumber") REFERENCES "ServiceVersion"("serviceId", "number") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Replica" ADD CONSTRAINT "Replica_hostId_fkey" FOREIGN KEY ("hostId") REFERENCES "Host"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Slot" ADD CONSTRAINT "Slot_serviceId_fkey" FOREIGN KEY ("serviceId") REFERENCES "Service"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Timer" ADD CONSTRAINT "Timer_serviceId_fkey" FOREIGN KEY ("serviceId") REFERENCES "Service"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "HostPort" ADD CONSTRAINT "HostPort_hostId_fkey" FOREIGN KEY ("hostId") REFERENCES "Host"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Worker" ADD CONSTRAINT "Worker_hostId_fkey" FOREIGN KEY ("hostId") REFERENCES "Host"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- From here on by hand: what the datamodel can't say.

-- A list that is not there would be one more way of being empty.
ALTER TABLE "Replica" ALTER COLUMN "hostAddresses" SET NOT NULL;

-- Rows that every commit rewrites keep room for their next version on the same page, so that no index is touched (HOT).
-- The counter row is the hottest of all: its table stays at one page or a few.
ALTER TABLE "Feed" SET (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
ALTER TABLE "Project" SET (fillfactor = 50);
ALTER TABLE "Host" SET (fillfactor = 50);
ALTER TABLE "Worker" SET (fillfactor = 50);
ALTER TABLE "Service" SET (fillfactor = 70);
ALTER TABLE "Replica" SET (fillfactor = 80);
ALTER TABLE "Rollout" SET (fillfactor = 80);
ALTER TABLE "Timer" SET (fillfactor = 70);

-- What exists from the start.
INSERT INTO "Feed" ("id", "head", "floor") VALUES (1, 0, 0);
INSERT INTO "TokenChanges" ("id", "count") VALUES (1, 0);
INSERT INTO "Project" ("id", "name", "createdAt") VALUES ('01890a5d-ac96-774b-bcce-b302099a8057', 'default', now());
INSERT INTO "Queue" ("id", "name", "priority", "createdAt") VALUES ('01890a5d-ac96-774b-bcce-b3020a1c5e2f', 'default', 0, now());

-- Every server hears of a token that is changed or taken away, whoever does it, and reads of it in the same statement as of the facts that were
-- committed later.
CREATE FUNCTION "count_token_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "TokenChanges" SET "count" = "count" + 1 WHERE "id" = 1;
  PERFORM pg_notify('facts', '');
  RETURN NULL;
END
$$;
CREATE TRIGGER "count_token_change" AFTER UPDATE OR DELETE OR TRUNCATE ON "Token" FOR EACH STATEMENT EXECUTE FUNCTION "count_token_change"();
