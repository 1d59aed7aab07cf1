CREATE TABLE "task_support" (
	"server_id" uuid NOT NULL,
	"era" text NOT NULL,
	"project_id" uuid NOT NULL,
	"is_own" boolean NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "task_support_server_id_era_pk" PRIMARY KEY("server_id","era")
);
--> statement-breakpoint
ALTER TABLE "kept_call" ADD COLUMN "task_owner" text;--> statement-breakpoint
ALTER TABLE "kept_call" ADD COLUMN "task_keep_ms" integer;--> statement-breakpoint
ALTER TABLE "kept_call" ADD COLUMN "is_failed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "task_support" ADD CONSTRAINT "task_support_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "task_support_project_id_index" ON "task_support" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "task_support_seen_at_index" ON "task_support" USING btree ("seen_at");--> statement-breakpoint
CREATE INDEX "kept_call_task_index" ON "kept_call" USING btree ("task_owner","started_at","id") WHERE "kept_call"."task_owner" IS NOT NULL;