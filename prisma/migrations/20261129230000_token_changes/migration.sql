-- CreateTable
CREATE TABLE "TokenChanges" (
    "id" INTEGER NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "TokenChanges_pkey" PRIMARY KEY ("id")
);

INSERT INTO "TokenChanges" ("id", "count") VALUES (1, 0);

-- Whoever takes a token away, every server hears of it, and reads of it in the same statement as of the facts that were committed later.
CREATE FUNCTION "count_token_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "TokenChanges" SET "count" = "count" + 1 WHERE "id" = 1;
  PERFORM pg_notify('facts', '');
  RETURN NULL;
END
$$;
CREATE TRIGGER "count_token_change" AFTER UPDATE OR DELETE OR TRUNCATE ON "Token" FOR EACH STATEMENT EXECUTE FUNCTION "count_token_change"();
