ALTER TABLE "request_log" ADD COLUMN "request_id" uuid;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "instance_id" text;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "refusal" text;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "server_ms" double precision;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "start_attempt" jsonb;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "request_truncated" boolean;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "response_truncated" boolean;--> statement-breakpoint
ALTER TABLE "server_log" ADD COLUMN "request_id" uuid;--> statement-breakpoint
CREATE INDEX "server_log_request_index" ON "server_log" USING btree ("project_id","request_id","id") WHERE "server_log"."request_id" IS NOT NULL;
