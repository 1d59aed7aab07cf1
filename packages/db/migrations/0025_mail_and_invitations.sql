CREATE TABLE "mail_message" (
	"id" uuid PRIMARY KEY NOT NULL,
	"purpose" text NOT NULL,
	"sender" text,
	"recipient" text NOT NULL,
	"sealed" text,
	"status" text NOT NULL,
	"problem" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"settled_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "invitation" ALTER COLUMN "inviter_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "invitation" ADD COLUMN "token_hashes" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "invitation" ADD COLUMN "mail_id" uuid;--> statement-breakpoint
CREATE INDEX "mail_message_recipient_created_at_index" ON "mail_message" USING btree ("recipient","created_at");--> statement-breakpoint
CREATE INDEX "mail_message_sender_created_at_index" ON "mail_message" USING btree ("sender","created_at");--> statement-breakpoint
CREATE INDEX "mail_message_created_at_index" ON "mail_message" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "audit_log_organization_id_actor_created_at_index" ON "audit_log" USING btree ("organization_id","actor","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "invitation_pending" ON "invitation" USING btree ("organization_id","email") WHERE "invitation"."status" = 'pending';