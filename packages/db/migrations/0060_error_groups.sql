CREATE TABLE "error_group" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"fingerprint" text NOT NULL,
	"is_overflow" boolean DEFAULT false NOT NULL,
	"title" text NOT NULL,
	"method" text,
	"target" text,
	"exception" text,
	"file" text,
	"line" integer,
	"function_name" text,
	"state" text DEFAULT 'open' NOT NULL,
	"count" bigint NOT NULL,
	"first_seen" timestamp (3) with time zone NOT NULL,
	"last_seen" timestamp (3) with time zone NOT NULL,
	"last_day" timestamp (3) with time zone GENERATED ALWAYS AS (date_bin('1 day', last_seen, 'epoch')) STORED,
	"first_deployment_id" uuid,
	"last_deployment_id" uuid,
	"opened_at" timestamp (3) with time zone NOT NULL,
	"is_back" boolean DEFAULT false NOT NULL,
	"resolved_at" timestamp (3) with time zone,
	"resolved_deployment_id" uuid,
	"samples" jsonb NOT NULL,
	"callers" jsonb NOT NULL,
	"clients" jsonb NOT NULL,
	"has_more_callers" boolean DEFAULT false NOT NULL,
	"has_more_clients" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "error_group_hour" (
	"group_id" uuid NOT NULL,
	"time" timestamp (3) with time zone NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "error_group_hour_group_id_time_pk" PRIMARY KEY("group_id","time")
);
--> statement-breakpoint
CREATE TABLE "request_log_failure" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "request_log_failure_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"project_id" uuid NOT NULL,
	"time" timestamp (3) with time zone NOT NULL,
	"row_id" uuid NOT NULL,
	"queued_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "errors_per_hour" integer;--> statement-breakpoint
ALTER TABLE "error_group" ADD CONSTRAINT "error_group_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "error_group_hour" ADD CONSTRAINT "error_group_hour_group_id_error_group_id_fk" FOREIGN KEY ("group_id") REFERENCES "public"."error_group"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "error_group_project_id_fingerprint_index" ON "error_group" USING btree ("project_id","fingerprint");--> statement-breakpoint
CREATE INDEX "error_group_open_index" ON "error_group" USING btree ("project_id","opened_at") WHERE "error_group"."state" = 'open';--> statement-breakpoint
CREATE INDEX "error_group_last_day_index" ON "error_group" USING btree ("last_day");--> statement-breakpoint
CREATE INDEX "error_group_hour_time_index" ON "error_group_hour" USING btree ("time");--> statement-breakpoint
-- Which failed rows are put on the worker's list; it decides by their details and the server's lines. Not what the gateway
-- refused, and not HTTP errors that blame the request.
CREATE FUNCTION towpath_list_failures() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO request_log_failure (project_id, time, row_id)
  SELECT project_id, time, id FROM inserted
  WHERE is_error AND kind = 'request' AND CASE outcome
    WHEN 'tool_error' THEN true
    WHEN 'rpc_error' THEN true
    WHEN 'closed_by_server' THEN method IS NOT NULL
    WHEN 'http_error' THEN http_status >= 500
    WHEN 'gateway_error' THEN refusal IN ('server_unreachable', 'server_failed_to_start')
    ELSE false END;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER request_log_failures AFTER INSERT ON "request_log" REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION towpath_list_failures();
