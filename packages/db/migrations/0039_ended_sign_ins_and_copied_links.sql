ALTER TABLE "invitation" ADD COLUMN "link_makers" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "oauth_grant" ADD COLUMN "ended_families" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "sign_in_step" ADD COLUMN "flow" text;--> statement-breakpoint
-- For each row, not each statement: a code that is replayed again and again changes no row, and must not empty every gateway's memory.
CREATE TRIGGER oauth_grant_family_notify AFTER UPDATE OF "ended_families" ON "oauth_grant" FOR EACH ROW WHEN (OLD.ended_families IS DISTINCT FROM NEW.ended_families) EXECUTE FUNCTION towpath_notify_oauth_grant();
