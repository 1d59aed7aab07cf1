CREATE TABLE "former_name" (
	"name" text PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "user_picture" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"png" "bytea" NOT NULL,
	"digest" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "branch" ADD COLUMN "skipped_commit_sha" text;--> statement-breakpoint
ALTER TABLE "branch" ADD COLUMN "skipped_commit_message" text;--> statement-breakpoint
ALTER TABLE "branch" ADD COLUMN "skipped_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "build" ADD COLUMN "root_directory" text;--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "watch_paths" text[] DEFAULT '{}'::text[] NOT NULL;--> statement-breakpoint
ALTER TABLE "user" ADD COLUMN "time_zone" text;--> statement-breakpoint
ALTER TABLE "user" ADD COLUMN "hour_cycle" text;--> statement-breakpoint
ALTER TABLE "former_name" ADD CONSTRAINT "former_name_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_picture" ADD CONSTRAINT "user_picture_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "former_name_project_id_index" ON "former_name" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "former_name_expires_at_index" ON "former_name" USING btree ("expires_at");--> statement-breakpoint
CREATE TRIGGER former_name_notify AFTER INSERT OR UPDATE OR DELETE ON "former_name" FOR EACH STATEMENT EXECUTE FUNCTION towpath_notify_route();