CREATE TABLE "kept_call" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"claim" text,
	"arguments_hash" text NOT NULL,
	"repeat_name" text,
	"state" text NOT NULL,
	"is_awaited" boolean DEFAULT false NOT NULL,
	"known" text,
	"started_at" timestamp (3) with time zone NOT NULL,
	"alive_until" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"fetched_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "kept_result" (
	"call_id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"sealed" text NOT NULL,
	"bytes" integer NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "keep_results_minutes" integer DEFAULT 10 NOT NULL;--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "unattended_minutes" integer DEFAULT 60 NOT NULL;--> statement-breakpoint
ALTER TABLE "kept_call" ADD CONSTRAINT "kept_call_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kept_result" ADD CONSTRAINT "kept_result_call_id_kept_call_id_fk" FOREIGN KEY ("call_id") REFERENCES "public"."kept_call"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kept_result" ADD CONSTRAINT "kept_result_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "kept_call_claim_index" ON "kept_call" USING btree ("claim");--> statement-breakpoint
CREATE INDEX "kept_call_project_id_state_started_at_index" ON "kept_call" USING btree ("project_id","state","started_at");--> statement-breakpoint
CREATE INDEX "kept_call_running_index" ON "kept_call" USING btree ("alive_until") WHERE "kept_call"."state" = 'running';--> statement-breakpoint
CREATE INDEX "kept_call_claimed_index" ON "kept_call" USING btree ("expires_at") WHERE "kept_call"."claim" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "kept_call_expires_at_index" ON "kept_call" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "kept_result_project_id_index" ON "kept_result" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "kept_result_expires_at_index" ON "kept_result" USING btree ("expires_at");