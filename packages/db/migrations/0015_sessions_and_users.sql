CREATE TABLE "request_log_activity" (
	"project_id" uuid NOT NULL,
	"seconds" integer NOT NULL,
	"time" timestamp (3) with time zone NOT NULL,
	"begun" integer NOT NULL,
	"ended" integer NOT NULL,
	"ended_calls" bigint NOT NULL,
	"ended_ms" double precision NOT NULL,
	"users" integer NOT NULL,
	CONSTRAINT "request_log_activity_project_id_seconds_time_pk" PRIMARY KEY("project_id","seconds","time")
);
--> statement-breakpoint
CREATE TABLE "request_log_session" (
	"project_id" uuid NOT NULL,
	"key" bigint NOT NULL,
	"first_seen" timestamp (3) with time zone NOT NULL,
	"last_seen" timestamp (3) with time zone NOT NULL,
	"last_slot" timestamp (3) with time zone GENERATED ALWAYS AS (date_bin('10 minutes', last_seen, 'epoch')) STORED,
	"session" text,
	"user_id" bigint NOT NULL,
	"principal" text NOT NULL,
	"client_name" text,
	"client_version" text,
	"protocol_version" text,
	"deployment_id" uuid,
	"caller_ids" bigint[] NOT NULL,
	"calls" bigint NOT NULL,
	"errors" bigint NOT NULL,
	CONSTRAINT "request_log_session_project_id_key_first_seen_pk" PRIMARY KEY("project_id","key","first_seen")
);
--> statement-breakpoint
CREATE TABLE "request_log_user" (
	"project_id" uuid NOT NULL,
	"id" bigint NOT NULL,
	"principal" text NOT NULL,
	"first_seen" timestamp (3) with time zone NOT NULL,
	"last_seen" timestamp (3) with time zone NOT NULL,
	"last_slot" timestamp (3) with time zone GENERATED ALWAYS AS (date_bin('10 minutes', last_seen, 'epoch')) STORED,
	"client_name" text,
	"client_version" text,
	"calls" bigint NOT NULL,
	"errors" bigint NOT NULL,
	CONSTRAINT "request_log_user_project_id_id_pk" PRIMARY KEY("project_id","id")
);
--> statement-breakpoint
CREATE TABLE "request_log_user_hour" (
	"project_id" uuid NOT NULL,
	"user_id" bigint NOT NULL,
	"time" timestamp (3) with time zone NOT NULL,
	"calls" bigint NOT NULL,
	"errors" bigint NOT NULL,
	CONSTRAINT "request_log_user_hour_project_id_user_id_time_pk" PRIMARY KEY("project_id","user_id","time")
);
--> statement-breakpoint
ALTER TABLE "request_log_delta" ADD COLUMN "caller_protocol_versions" text[];--> statement-breakpoint
CREATE INDEX "request_log_activity_time_index" ON "request_log_activity" USING btree ("time");--> statement-breakpoint
CREATE INDEX "request_log_session_project_id_last_slot_index" ON "request_log_session" USING btree ("project_id","last_slot");--> statement-breakpoint
CREATE INDEX "request_log_session_project_id_user_id_last_slot_index" ON "request_log_session" USING btree ("project_id","user_id","last_slot");--> statement-breakpoint
CREATE INDEX "request_log_session_last_slot_index" ON "request_log_session" USING btree ("last_slot");--> statement-breakpoint
CREATE INDEX "request_log_user_project_id_last_slot_index" ON "request_log_user" USING btree ("project_id","last_slot");--> statement-breakpoint
CREATE INDEX "request_log_user_last_slot_index" ON "request_log_user" USING btree ("last_slot");--> statement-breakpoint
CREATE INDEX "request_log_user_hour_time_index" ON "request_log_user_hour" USING btree ("time");
--> statement-breakpoint
-- Room on each page: an update that changes no indexed column stays on it and touches no index.
ALTER TABLE "request_log_session" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "request_log_user" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "request_log_user_hour" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "request_log_activity" SET (fillfactor = 80);--> statement-breakpoint
-- As in 0007, with the protocol version of callers, and refused calls apart from those that reached a server.
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
      client_version, class = 2 AS is_refused, max(protocol_version COLLATE "C") AS protocol_version,
      min(time) AS first_seen, max(time) AS last_seen, count(*) AS calls,
      count(*) FILTER (WHERE class = 1) AS errors, count(*) FILTER (WHERE class = 2) AS refused
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
END $$;--> statement-breakpoint
-- Sessions with an id so far. Their protocol version is in the row of their last call.
INSERT INTO request_log_session (project_id, key, first_seen, last_seen, session, user_id, principal, client_name,
  client_version, protocol_version, deployment_id, caller_ids, calls, errors)
SELECT s.project_id, s.key, s.first_seen, s.last_seen, s.session, hashtextextended(s.principal, 0), s.principal,
  s.client_name, s.client_version, (SELECT r.protocol_version FROM request_log r WHERE r.project_id = s.project_id
    AND r.time = s.last_seen AND r.session = s.session AND r.protocol_version IS NOT NULL LIMIT 1),
  s.deployment_id, s.caller_ids, s.calls, s.errors
FROM (
  SELECT project_id, hashtextextended(jsonb_build_array(session)::text, 0) AS key, session,
    min(first_seen) AS first_seen, max(last_seen) AS last_seen, (array_agg(principal ORDER BY last_seen DESC))[1] AS principal,
    (array_agg(client_name ORDER BY last_seen DESC))[1] AS client_name,
    (array_agg(client_version ORDER BY last_seen DESC))[1] AS client_version,
    (array_agg(deployment_id ORDER BY last_seen DESC))[1] AS deployment_id,
    (array_agg(id ORDER BY last_seen DESC))[1:20] AS caller_ids, sum(calls - refused) AS calls, sum(errors) AS errors
  FROM request_log_caller WHERE session IS NOT NULL AND NOT is_overflow AND calls > refused
  GROUP BY project_id, session) AS s;--> statement-breakpoint
-- Calls without a session id, cut where principal and client paused for more than 30 minutes.
INSERT INTO request_log_session (project_id, key, first_seen, last_seen, user_id, principal, client_name,
  client_version, protocol_version, deployment_id, caller_ids, calls, errors)
WITH slots AS MATERIALIZED (
  SELECT row_number() OVER () AS piece, c.project_id,
    hashtextextended(jsonb_build_array(c.principal, c.client_name, c.client_version)::text, 0) AS key, c.principal,
    c.client_name, c.client_version, c.deployment_id, c.id, s.first_seen, s.last_seen, s.calls - s.refused AS calls, s.errors
  FROM request_log_caller c JOIN request_log_caller_slot s ON s.project_id = c.project_id AND s.caller_id = c.id
  WHERE c.session IS NULL AND NOT c.is_overflow AND s.calls > s.refused
), marked AS (
  SELECT *, first_seen > max(last_seen) OVER (PARTITION BY project_id, key ORDER BY first_seen, piece
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) + interval '30 minutes' AS begins FROM slots
), numbered AS (
  SELECT *, count(*) FILTER (WHERE begins) OVER (PARTITION BY project_id, key ORDER BY first_seen, piece
    ROWS UNBOUNDED PRECEDING) AS island FROM marked
), islands AS (
  SELECT project_id, key, min(first_seen) AS first_seen, max(last_seen) AS last_seen, (array_agg(principal))[1] AS principal,
    (array_agg(client_name))[1] AS client_name, (array_agg(client_version))[1] AS client_version,
    (array_agg(deployment_id ORDER BY last_seen DESC))[1] AS deployment_id,
    (array_agg(DISTINCT id))[1:20] AS caller_ids, sum(calls) AS calls, sum(errors) AS errors
  FROM numbered GROUP BY project_id, key, island)
SELECT i.project_id, i.key, i.first_seen, i.last_seen, hashtextextended(i.principal, 0), i.principal, i.client_name,
  i.client_version, (SELECT r.protocol_version FROM request_log r WHERE r.project_id = i.project_id
    AND r.time = i.last_seen AND r.session IS NULL AND r.principal = i.principal AND r.protocol_version IS NOT NULL LIMIT 1),
  i.deployment_id, i.caller_ids, i.calls, i.errors
FROM islands i ON CONFLICT DO NOTHING;--> statement-breakpoint
INSERT INTO request_log_user (project_id, id, principal, first_seen, last_seen, client_name, client_version, calls, errors)
SELECT project_id, hashtextextended(principal, 0), (array_agg(principal))[1], min(first_seen), max(last_seen),
  (array_agg(client_name ORDER BY last_seen DESC))[1], (array_agg(client_version ORDER BY last_seen DESC))[1],
  sum(calls - refused), sum(errors)
FROM request_log_caller WHERE NOT is_overflow AND calls > refused GROUP BY 1, 2;--> statement-breakpoint
INSERT INTO request_log_user_hour (project_id, user_id, time, calls, errors)
SELECT s.project_id, hashtextextended(c.principal, 0), date_bin('1 hour', s.time, 'epoch'), sum(s.calls - s.refused), sum(s.errors)
FROM request_log_caller_slot s JOIN request_log_caller c ON c.project_id = s.project_id AND c.id = s.caller_id
WHERE NOT c.is_overflow AND s.calls > s.refused GROUP BY 1, 2, 3;--> statement-breakpoint
INSERT INTO request_log_activity (project_id, seconds, time, begun, ended, ended_calls, ended_ms, users)
SELECT project_id, seconds, time, sum(begun), sum(ended), sum(ended_calls), sum(ended_ms), sum(users) FROM (
  SELECT project_id, l.seconds, date_bin(make_interval(secs => l.seconds), first_seen, 'epoch') AS time,
    count(*) AS begun, 0 AS ended, 0 AS ended_calls, 0 AS ended_ms, 0 AS users
  FROM request_log_session, unnest(ARRAY[600, 3600, 21600, 86400]) AS l (seconds) GROUP BY 1, 2, 3
  UNION ALL
  SELECT project_id, l.seconds, date_bin(make_interval(secs => l.seconds), last_seen, 'epoch'), 0, count(*), sum(calls),
    sum(extract(epoch FROM last_seen - first_seen) * 1000), 0
  FROM request_log_session, unnest(ARRAY[600, 3600, 21600, 86400]) AS l (seconds) GROUP BY 1, 2, 3
  UNION ALL
  SELECT project_id, l.seconds, date_bin(make_interval(secs => l.seconds), time, 'epoch'), 0, 0, 0, 0, count(DISTINCT user_id)
  FROM request_log_user_hour, unnest(ARRAY[3600, 21600, 86400]) AS l (seconds) GROUP BY 1, 2, 3
) AS parts GROUP BY 1, 2, 3;
