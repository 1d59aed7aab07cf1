-- An upgrade that runs 0007 with this one has the column, and marks in it. Where 0007 ran before, it has counted all rows.
ALTER TABLE "request_log" ADD COLUMN IF NOT EXISTS "needs_rollup" boolean;--> statement-breakpoint
CREATE INDEX "request_log_rollup_index" ON "request_log" USING btree ("time") WHERE "request_log"."needs_rollup";--> statement-breakpoint
-- Clearing the mark counts a row, in one statement. The setting keeps any other UPDATE from counting rows again.
CREATE TRIGGER request_log_backfill AFTER UPDATE ON "request_log" REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT WHEN (current_setting('towpath.backfill_rollups', true) = 'on')
  EXECUTE FUNCTION towpath_sum_request_log();
