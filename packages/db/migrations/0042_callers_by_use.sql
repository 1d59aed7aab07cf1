ALTER TABLE "request_log_delta" ADD COLUMN "caller_last_used" timestamp (3) with time zone[];--> statement-breakpoint
ALTER TABLE "request_log_user_hour" ADD COLUMN "last_used" timestamp (3) with time zone;--> statement-breakpoint
-- As in 0022, with each caller's latest use.
CREATE OR REPLACE FUNCTION towpath_sum_request_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO request_log_delta (project_id, first_minute, last_minute, series, caller_deployments, caller_sessions,
    caller_principals, caller_client_names, caller_client_versions, caller_protocol_versions, caller_first_seen,
    caller_last_seen, caller_calls, caller_errors, caller_refused, caller_last_used, messages)
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
      count(*) FILTER (WHERE class = 1) AS errors, count(*) FILTER (WHERE class IN (2, 3)) AS refused,
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
END $$;--> statement-breakpoint
-- What an overview shows in the first two days. Which of these calls used something isn't known any more.
UPDATE "request_log_user_hour" SET "last_used" = least("time" + interval '1 hour' - interval '1 millisecond', now())
WHERE "time" > now() - interval '50 hours';
