ALTER TABLE "project" ADD COLUMN "first_steps_done_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "user" ADD COLUMN "hides_first_steps" boolean DEFAULT false NOT NULL;