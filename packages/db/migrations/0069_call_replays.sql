CREATE TABLE "call_replay" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"branch_id" uuid NOT NULL,
	"commit_sha" text NOT NULL,
	"build_id" uuid NOT NULL,
	"state" text NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"claimed_until" timestamp (3) with time zone,
	"requested_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"verdict" text,
	"calls" integer DEFAULT 0 NOT NULL,
	"different" integer DEFAULT 0 NOT NULL,
	"tools" integer DEFAULT 0 NOT NULL,
	"sealed" text
);
--> statement-breakpoint
CREATE TABLE "sampled_call" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"tool" text NOT NULL,
	"shape" text NOT NULL,
	"fingerprint" text NOT NULL,
	"sealed" text NOT NULL,
	"sampled_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "replay" jsonb;--> statement-breakpoint
ALTER TABLE "call_replay" ADD CONSTRAINT "call_replay_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "call_replay" ADD CONSTRAINT "call_replay_branch_id_branch_id_fk" FOREIGN KEY ("branch_id") REFERENCES "public"."branch"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "call_replay" ADD CONSTRAINT "call_replay_build_id_build_id_fk" FOREIGN KEY ("build_id") REFERENCES "public"."build"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sampled_call" ADD CONSTRAINT "sampled_call_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "call_replay_branch_id_commit_sha_index" ON "call_replay" USING btree ("branch_id","commit_sha");--> statement-breakpoint
CREATE INDEX "call_replay_project_id_index" ON "call_replay" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "call_replay_build_id_index" ON "call_replay" USING btree ("build_id");--> statement-breakpoint
CREATE INDEX "call_replay_unfinished_index" ON "call_replay" USING btree ("requested_at") WHERE "call_replay"."state" IN ('waiting', 'running');--> statement-breakpoint
CREATE UNIQUE INDEX "sampled_call_project_id_fingerprint_index" ON "sampled_call" USING btree ("project_id","fingerprint");--> statement-breakpoint
CREATE INDEX "sampled_call_expires_at_index" ON "sampled_call" USING btree ("expires_at");--> statement-breakpoint
-- As in 0042, with class 4 for replayed calls (principal `check`): they are in the log, and count as nobody's use. Like a
-- refused request, they make no session and no user.
CREATE OR REPLACE FUNCTION towpath_sum_request_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO request_log_delta (project_id, first_minute, last_minute, series, caller_deployments, caller_sessions,
    caller_principals, caller_client_names, caller_client_versions, caller_protocol_versions, caller_first_seen,
    caller_last_seen, caller_calls, caller_errors, caller_refused, caller_last_used, messages)
  WITH written AS NOT MATERIALIZED (
    SELECT project_id, time, date_bin('1 minute', time, 'epoch') AS minute, deployment_id, http_method, method, target,
      CASE WHEN principal = 'check' THEN 4::smallint ELSE towpath_request_class(is_error, outcome, http_status) END AS class,
      duration_ms, towpath_latency_bucket(duration_ms) AS bucket,
      session, principal, client_name, client_version, protocol_version, error_message
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
      client_version, class > 1 AS is_refused, max(protocol_version COLLATE "C") AS protocol_version,
      min(time) AS first_seen, max(time) AS last_seen, count(*) AS calls,
      count(*) FILTER (WHERE class = 1) AS errors, count(*) FILTER (WHERE class > 1) AS refused,
      max(time) FILTER (WHERE class = 1 OR class = 0
        AND method IN ('tools/call', 'resources/read', 'prompts/get', 'completion/complete')) AS last_used
    FROM written GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  ), series_of AS (
    SELECT project_id, date_bin('12 hours', minute, 'epoch') AS half_day, min(minute) AS first_minute,
      max(minute) AS last_minute, jsonb_agg(item) AS items
    FROM series GROUP BY 1, 2
  ), callers_of AS (
    SELECT project_id, date_bin('12 hours', slot, 'epoch') AS half_day, array_agg(deployment_id) AS deployments,
      array_agg(session) AS sessions, array_agg(principal) AS principals, array_agg(client_name) AS client_names,
      array_agg(client_version) AS client_versions, array_agg(protocol_version) AS protocol_versions,
      array_agg(first_seen) AS first_seen,
      array_agg(last_seen) AS last_seen, array_agg(calls) AS calls, array_agg(errors) AS errors,
      array_agg(refused) AS refused, array_agg(last_used) AS last_used
    FROM callers GROUP BY 1, 2
  ), messages_of AS (
    SELECT project_id, date_bin('12 hours', minute, 'epoch') AS half_day, array_agg(DISTINCT error_message) AS messages
    FROM written WHERE error_message IS NOT NULL GROUP BY 1, 2
  )
  SELECT project_id, first_minute, last_minute, items, deployments, sessions, principals, client_names, client_versions,
    protocol_versions, first_seen, last_seen, calls, errors, refused, last_used, messages
  FROM series_of JOIN callers_of USING (project_id, half_day) LEFT JOIN messages_of USING (project_id, half_day);
  RETURN NULL;
END $$;
