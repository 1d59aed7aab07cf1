ALTER TABLE "instance" ADD COLUMN "runner" uuid;--> statement-breakpoint
ALTER TABLE "instance" ADD COLUMN "generation" integer;--> statement-breakpoint
ALTER TABLE "instance" ADD COLUMN "endpoint" jsonb;