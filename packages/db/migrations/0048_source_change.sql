ALTER TABLE "project" ADD COLUMN "github_branch" text;--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "source_changed_at" timestamp (3) with time zone;