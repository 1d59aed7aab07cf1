ALTER TABLE "build" ADD COLUMN "arguments" text[] DEFAULT '{}'::text[] NOT NULL;--> statement-breakpoint
ALTER TABLE "build" ADD COLUMN "program" jsonb;--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "arguments" text[] DEFAULT '{}'::text[] NOT NULL;