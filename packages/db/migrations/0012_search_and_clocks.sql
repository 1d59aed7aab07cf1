-- Trigrams, and uuids in the same index. Both extensions are trusted: the owner of the database may create them.
CREATE EXTENSION IF NOT EXISTS pg_trgm;--> statement-breakpoint
CREATE EXTENSION IF NOT EXISTS btree_gin;--> statement-breakpoint
-- Room on each page, so that an update that changes no indexed column stays on it and touches no index.
ALTER TABLE "request_log_caller" SET (fillfactor = 80);--> statement-breakpoint
DROP INDEX "request_log_caller_project_id_last_seen_index";--> statement-breakpoint
DROP INDEX "request_log_caller_last_seen_index";--> statement-breakpoint
ALTER TABLE "request_log_caller" ADD COLUMN "last_slot" timestamp (3) with time zone GENERATED ALWAYS AS (date_bin('10 minutes', last_seen, 'epoch')) STORED;--> statement-breakpoint
CREATE INDEX "request_log_caller_project_id_last_slot_index" ON "request_log_caller" USING btree ("project_id","last_slot");--> statement-breakpoint
CREATE INDEX "request_log_caller_last_slot_index" ON "request_log_caller" USING btree ("last_slot");--> statement-breakpoint
CREATE INDEX "request_log_caller_search_index" ON "request_log_caller" USING gin ("project_id",search_text COLLATE "C" gin_trgm_ops);--> statement-breakpoint
-- As in 0007, but a clock that is more than two days ahead makes tomorrow's partitions: those of a distant day would
-- not be dropped before that day has passed.
CREATE OR REPLACE FUNCTION towpath_ensure_log_partitions(day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE parent text; partition text; today date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
  IF day > today + 2 THEN day := today + 1; END IF;
  PERFORM pg_advisory_xact_lock(hashtext('towpath_ensure_log_partitions'));
  FOREACH parent IN ARRAY ARRAY['request_log', 'server_log', 'request_log_minute', 'request_log_ten_minutes',
      'request_log_hour', 'request_log_half_day', 'request_log_caller_slot'] LOOP
    partition := parent || '_' || to_char(day, 'YYYYMMDD');
    IF to_regclass(partition) IS NULL THEN
      BEGIN
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', partition, parent,
          day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
      EXCEPTION WHEN check_violation THEN
        RAISE NOTICE 'day % stays in the default partition of %', day, parent;
      END;
    END IF;
  END LOOP;
END $$;
