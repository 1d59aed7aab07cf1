CREATE TABLE "call_limit" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"caller_per_minute" integer,
	"caller_burst" integer,
	"server_per_minute" integer,
	"server_burst" integer,
	"revision" integer DEFAULT 1 NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "call_limit_caller_check" CHECK (num_nulls("call_limit"."caller_per_minute", "call_limit"."caller_burst") = 2
    OR (num_nulls("call_limit"."caller_per_minute", "call_limit"."caller_burst") = 0 AND "call_limit"."caller_per_minute" > 0 AND "call_limit"."caller_burst" > 0)),
	CONSTRAINT "call_limit_server_check" CHECK (num_nulls("call_limit"."server_per_minute", "call_limit"."server_burst") = 2
    OR (num_nulls("call_limit"."server_per_minute", "call_limit"."server_burst") = 0 AND "call_limit"."server_per_minute" > 0 AND "call_limit"."server_burst" > 0))
);
--> statement-breakpoint
ALTER TABLE "call_limit" ADD CONSTRAINT "call_limit_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- Gateways read it with the routes.
CREATE TRIGGER call_limit_notify AFTER INSERT OR UPDATE OR DELETE ON "call_limit" FOR EACH STATEMENT EXECUTE FUNCTION towpath_notify_route();--> statement-breakpoint
-- As in 0007, with a class of their own for calls that a limit refused (3).
CREATE OR REPLACE FUNCTION towpath_request_class(is_error boolean, outcome text, http_status smallint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN NOT is_error THEN 0 WHEN outcome <> 'gateway_error' OR http_status >= 500 THEN 1
    WHEN http_status = 429 THEN 3 ELSE 2 END::smallint
$$;--> statement-breakpoint
-- As in 0015: both classes are refused calls of their caller.
CREATE OR REPLACE FUNCTION towpath_sum_request_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO request_log_delta (project_id, first_minute, last_minute, series, caller_deployments, caller_sessions,
    caller_principals, caller_client_names, caller_client_versions, caller_protocol_versions, caller_first_seen,
    caller_last_seen, caller_calls, caller_errors, caller_refused, messages)
  WITH written AS NOT MATERIALIZED (
    SELECT project_id, time, date_bin('1 minute', time, 'epoch') AS minute, deployment_id, http_method, method, target,
      towpath_request_class(is_error, outcome, http_status) AS class,
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
      client_version, class IN (2, 3) AS is_refused, max(protocol_version COLLATE "C") AS protocol_version,
      min(time) AS first_seen, max(time) AS last_seen, count(*) AS calls,
      count(*) FILTER (WHERE class = 1) AS errors, count(*) FILTER (WHERE class IN (2, 3)) AS refused
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
      array_agg(refused) AS refused
    FROM callers GROUP BY 1, 2
  ), messages_of AS (
    SELECT project_id, date_bin('12 hours', minute, 'epoch') AS half_day, array_agg(DISTINCT error_message) AS messages
    FROM written WHERE error_message IS NOT NULL GROUP BY 1, 2
  )
  SELECT project_id, first_minute, last_minute, items, deployments, sessions, principals, client_names, client_versions,
    protocol_versions, first_seen, last_seen, calls, errors, refused, messages
  FROM series_of JOIN callers_of USING (project_id, half_day) LEFT JOIN messages_of USING (project_id, half_day);
  RETURN NULL;
END $$;
