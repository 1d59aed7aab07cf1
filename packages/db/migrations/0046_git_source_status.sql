ALTER TABLE "git_source" ADD COLUMN "status_kind" text;--> statement-breakpoint
ALTER TABLE "git_source" ADD COLUMN "status_ciphertext" text;--> statement-breakpoint
ALTER TABLE "git_source" ADD COLUMN "status_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "git_source" ADD COLUMN "status_problem" text;--> statement-breakpoint
ALTER TABLE "git_source" ADD CONSTRAINT "git_source_status_check" CHECK (num_nonnulls("git_source"."status_kind", "git_source"."status_ciphertext") <> 1);