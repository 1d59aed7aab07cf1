CREATE TABLE "request_log_caller" (
	"project_id" uuid NOT NULL,
	"id" bigint NOT NULL,
	"deployment_id" uuid,
	"session" text,
	"principal" text NOT NULL,
	"client_name" text,
	"client_version" text,
	"search_text" text NOT NULL,
	"is_overflow" boolean DEFAULT false NOT NULL,
	"first_seen" timestamp (3) with time zone NOT NULL,
	"last_seen" timestamp (3) with time zone NOT NULL,
	"calls" bigint NOT NULL,
	"errors" bigint NOT NULL,
	"refused" bigint NOT NULL,
	CONSTRAINT "request_log_caller_project_id_id_pk" PRIMARY KEY("project_id","id")
);
--> statement-breakpoint
CREATE TABLE "request_log_caller_slot" (
	"project_id" uuid NOT NULL,
	"time" timestamp (3) with time zone NOT NULL,
	"caller_id" bigint NOT NULL,
	"calls" integer NOT NULL,
	"errors" integer NOT NULL,
	"refused" integer NOT NULL,
	"first_seen" timestamp (3) with time zone NOT NULL,
	"last_seen" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "request_log_caller_slot_project_id_time_caller_id_pk" PRIMARY KEY("project_id","time","caller_id")
) PARTITION BY RANGE ("time");
--> statement-breakpoint
CREATE TABLE "request_log_delta" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "request_log_delta_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"project_id" uuid NOT NULL,
	"first_minute" timestamp (3) with time zone NOT NULL,
	"last_minute" timestamp (3) with time zone NOT NULL,
	"series" jsonb NOT NULL,
	"caller_deployments" uuid[] NOT NULL,
	"caller_sessions" text[] NOT NULL,
	"caller_principals" text[] NOT NULL,
	"caller_client_names" text[] NOT NULL,
	"caller_client_versions" text[] NOT NULL,
	"caller_first_seen" timestamp (3) with time zone[] NOT NULL,
	"caller_last_seen" timestamp (3) with time zone[] NOT NULL,
	"caller_calls" integer[] NOT NULL,
	"caller_errors" integer[] NOT NULL,
	"caller_refused" integer[] NOT NULL,
	"messages" text[]
);
--> statement-breakpoint
CREATE TABLE "request_log_half_day" (
	"project_id" uuid NOT NULL,
	"time" timestamp (3) with time zone NOT NULL,
	"series_id" bigint NOT NULL,
	"calls" bigint NOT NULL,
	"duration_ms" double precision NOT NULL,
	"latency" bigint[] NOT NULL,
	CONSTRAINT "request_log_half_day_project_id_time_series_id_pk" PRIMARY KEY("project_id","time","series_id")
) PARTITION BY RANGE ("time");
--> statement-breakpoint
CREATE TABLE "request_log_hour" (
	"project_id" uuid NOT NULL,
	"time" timestamp (3) with time zone NOT NULL,
	"series_id" bigint NOT NULL,
	"calls" bigint NOT NULL,
	"duration_ms" double precision NOT NULL,
	"latency" bigint[] NOT NULL,
	CONSTRAINT "request_log_hour_project_id_time_series_id_pk" PRIMARY KEY("project_id","time","series_id")
) PARTITION BY RANGE ("time");
--> statement-breakpoint
CREATE TABLE "request_log_message" (
	"project_id" uuid NOT NULL,
	"id" bigint NOT NULL,
	"search_text" text NOT NULL,
	"first_seen" timestamp (3) with time zone NOT NULL,
	"last_seen" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "request_log_message_project_id_id_pk" PRIMARY KEY("project_id","id")
);
--> statement-breakpoint
CREATE TABLE "request_log_minute" (
	"project_id" uuid NOT NULL,
	"time" timestamp (3) with time zone NOT NULL,
	"series_id" bigint NOT NULL,
	"calls" bigint NOT NULL,
	"duration_ms" double precision NOT NULL,
	"latency" bigint[] NOT NULL,
	CONSTRAINT "request_log_minute_project_id_time_series_id_pk" PRIMARY KEY("project_id","time","series_id")
) PARTITION BY RANGE ("time");
--> statement-breakpoint
CREATE TABLE "request_log_series" (
	"project_id" uuid NOT NULL,
	"id" bigint NOT NULL,
	"deployment_id" uuid,
	"http_method" text NOT NULL,
	"method" text,
	"target" text,
	"class" smallint NOT NULL,
	"is_overflow" boolean DEFAULT false NOT NULL,
	"first_seen" timestamp (3) with time zone NOT NULL,
	"last_seen" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "request_log_series_project_id_id_pk" PRIMARY KEY("project_id","id")
);
--> statement-breakpoint
CREATE TABLE "request_log_ten_minutes" (
	"project_id" uuid NOT NULL,
	"time" timestamp (3) with time zone NOT NULL,
	"series_id" bigint NOT NULL,
	"calls" bigint NOT NULL,
	"duration_ms" double precision NOT NULL,
	"latency" bigint[] NOT NULL,
	CONSTRAINT "request_log_ten_minutes_project_id_time_series_id_pk" PRIMARY KEY("project_id","time","series_id")
) PARTITION BY RANGE ("time");
--> statement-breakpoint
DROP INDEX "request_log_project_id_time_id_index";--> statement-breakpoint
DROP INDEX "request_log_errors_index";--> statement-breakpoint
ALTER TABLE "request_log" DROP CONSTRAINT "request_log_time_id_pk";--> statement-breakpoint
ALTER TABLE "request_log" ADD CONSTRAINT "request_log_project_id_time_id_pk" PRIMARY KEY("project_id","time","id");--> statement-breakpoint
CREATE INDEX "request_log_caller_project_id_last_seen_index" ON "request_log_caller" USING btree ("project_id","last_seen");--> statement-breakpoint
CREATE INDEX "request_log_caller_project_id_first_seen_index" ON "request_log_caller" USING btree ("project_id","first_seen");--> statement-breakpoint
CREATE INDEX "request_log_caller_last_seen_index" ON "request_log_caller" USING btree ("last_seen");--> statement-breakpoint
CREATE INDEX "request_log_caller_slot_project_id_caller_id_time_index" ON "request_log_caller_slot" USING btree ("project_id","caller_id","time");--> statement-breakpoint
CREATE INDEX "request_log_delta_project_id_index" ON "request_log_delta" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "request_log_message_project_id_first_seen_index" ON "request_log_message" USING btree ("project_id","first_seen");--> statement-breakpoint
CREATE INDEX "request_log_message_last_seen_index" ON "request_log_message" USING btree ("last_seen");--> statement-breakpoint
CREATE INDEX "request_log_series_project_id_first_seen_index" ON "request_log_series" USING btree ("project_id","first_seen");--> statement-breakpoint
CREATE INDEX "request_log_series_last_seen_index" ON "request_log_series" USING btree ("last_seen");--> statement-breakpoint
CREATE INDEX "request_log_error_index" ON "request_log" USING btree ("project_id","time","id") WHERE "request_log"."is_error";--> statement-breakpoint
CREATE INDEX "request_log_message_index" ON "request_log" USING btree ("project_id",hashtextextended(error_message, 0),"time") WHERE "request_log"."error_message" IS NOT NULL;--> statement-breakpoint
-- Rows of a day whose partition does not exist yet land in the default partition instead of being lost.
CREATE TABLE "request_log_minute_default" PARTITION OF "request_log_minute" DEFAULT;--> statement-breakpoint
CREATE TABLE "request_log_ten_minutes_default" PARTITION OF "request_log_ten_minutes" DEFAULT;--> statement-breakpoint
CREATE TABLE "request_log_caller_slot_default" PARTITION OF "request_log_caller_slot" DEFAULT;--> statement-breakpoint
CREATE TABLE "request_log_hour_default" PARTITION OF "request_log_hour" DEFAULT;--> statement-breakpoint
CREATE TABLE "request_log_half_day_default" PARTITION OF "request_log_half_day" DEFAULT;--> statement-breakpoint
-- Creates the partitions that rows of a day need: of both logs and of the roll-ups.
CREATE OR REPLACE FUNCTION towpath_ensure_log_partitions(day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE parent text; partition text;
BEGIN
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
END $$;--> statement-breakpoint
-- Adds up a histogram's elements (bucket * 2^40 + calls) by bucket.
CREATE FUNCTION towpath_add_latency(a bigint[], b bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_agg((bucket << 40) + calls ORDER BY bucket) FROM (
    SELECT element >> 40 AS bucket, sum(element & 1099511627775)::bigint AS calls
    FROM unnest(a || b) AS element GROUP BY 1) AS sums
$$;--> statement-breakpoint
-- 0: succeeded; 1: error; 2: refused by the gateway before any server was asked, which says nothing of the server.
CREATE FUNCTION towpath_request_class(is_error boolean, outcome text, http_status smallint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN NOT is_error THEN 0 WHEN outcome = 'gateway_error' AND http_status < 500 THEN 2 ELSE 1 END::smallint
$$;--> statement-breakpoint
-- The bucket of packages/logs/src/latency.ts: each is 2^(1/6) as wide as the one before, from 0.01 ms on.
CREATE FUNCTION towpath_latency_bucket(duration_ms double precision) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT greatest(0, ceil(ln(greatest(duration_ms, 0.01) / 0.01) * (6 / ln(2::float8))))::bigint
$$;--> statement-breakpoint
-- Sums up what a statement really inserted, so that a batch that is written twice counts once, whoever writes it.
-- One row per project (and half a day, so that none gets huge).
CREATE FUNCTION towpath_sum_request_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO request_log_delta (project_id, first_minute, last_minute, series, caller_deployments, caller_sessions,
    caller_principals, caller_client_names, caller_client_versions, caller_first_seen, caller_last_seen, caller_calls,
    caller_errors, caller_refused, messages)
  WITH written AS NOT MATERIALIZED (
    SELECT project_id, time, date_bin('1 minute', time, 'epoch') AS minute, deployment_id, http_method, method, target,
      towpath_request_class(is_error, outcome, http_status) AS class,
      duration_ms, towpath_latency_bucket(duration_ms) AS bucket,
      session, principal, client_name, client_version, error_message
    FROM inserted
  ), cells AS (
    SELECT project_id, minute, deployment_id, http_method, method, target, class, bucket, count(*) AS calls,
      sum(duration_ms) AS ms
    FROM written GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  ), series AS (
    SELECT project_id, minute, jsonb_build_array(extract(epoch FROM minute), deployment_id, http_method, method, target,
        class, sum(calls), sum(ms), jsonb_agg((bucket << 40) + calls)) AS item
    FROM cells GROUP BY project_id, minute, deployment_id, http_method, method, target, class
  ), callers AS (
    SELECT project_id, date_bin('10 minutes', minute, 'epoch') AS slot, deployment_id, session, principal, client_name,
      client_version, min(time) AS first_seen, max(time) AS last_seen, count(*) AS calls,
      count(*) FILTER (WHERE class = 1) AS errors, count(*) FILTER (WHERE class = 2) AS refused
    FROM written GROUP BY 1, 2, 3, 4, 5, 6, 7
  ), series_of AS (
    SELECT project_id, date_bin('12 hours', minute, 'epoch') AS half_day, min(minute) AS first_minute,
      max(minute) AS last_minute, jsonb_agg(item) AS items
    FROM series GROUP BY 1, 2
  ), callers_of AS (
    SELECT project_id, date_bin('12 hours', slot, 'epoch') AS half_day, array_agg(deployment_id) AS deployments,
      array_agg(session) AS sessions, array_agg(principal) AS principals, array_agg(client_name) AS client_names,
      array_agg(client_version) AS client_versions, array_agg(first_seen) AS first_seen,
      array_agg(last_seen) AS last_seen, array_agg(calls) AS calls, array_agg(errors) AS errors,
      array_agg(refused) AS refused
    FROM callers GROUP BY 1, 2
  ), messages_of AS (
    SELECT project_id, date_bin('12 hours', minute, 'epoch') AS half_day, array_agg(DISTINCT error_message) AS messages
    FROM written WHERE error_message IS NOT NULL GROUP BY 1, 2
  )
  SELECT project_id, first_minute, last_minute, items, deployments, sessions, principals, client_names, client_versions,
    first_seen, last_seen, calls, errors, refused, messages
  FROM series_of JOIN callers_of USING (project_id, half_day) LEFT JOIN messages_of USING (project_id, half_day);
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER request_log_sum AFTER INSERT ON "request_log" REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION towpath_sum_request_log();--> statement-breakpoint
-- Marks the rows that are there already, without rewriting any: the worker adds them up in batches (`backfillRollups`).
-- Rows that are written from here on have no mark, because the trigger has counted them.
ALTER TABLE "request_log" ADD COLUMN "needs_rollup" boolean DEFAULT true;--> statement-breakpoint
ALTER TABLE "request_log" ALTER COLUMN "needs_rollup" DROP DEFAULT;
