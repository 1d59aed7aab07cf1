ALTER TABLE "chat_usage" ALTER COLUMN "user_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "check_questions" jsonb;