ALTER TABLE "repository" ADD COLUMN "github_installation_id" bigint;--> statement-breakpoint
ALTER TABLE "repository" ADD COLUMN "github_repository_id" bigint;--> statement-breakpoint
ALTER TABLE "repository" ADD COLUMN "github_full_name" text;--> statement-breakpoint
ALTER TABLE "repository" ADD COLUMN "github_url" text;--> statement-breakpoint
ALTER TABLE "repository" ADD COLUMN "moving_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "repository" ADD COLUMN "continued_at" timestamp (3) with time zone;