ALTER TABLE "kept_call" ADD COLUMN "keep_ms" integer;--> statement-breakpoint
ALTER TABLE "kept_result" ADD COLUMN "taken_by" uuid;--> statement-breakpoint
ALTER TABLE "kept_result" ADD COLUMN "taken_until" timestamp (3) with time zone;