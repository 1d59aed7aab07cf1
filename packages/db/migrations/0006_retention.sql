CREATE TABLE "erasure" (
	"kind" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"requested_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"next_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "erasure_kind_subject_id_pk" PRIMARY KEY("kind","subject_id")
);
--> statement-breakpoint
ALTER TABLE "webhook_delivery" ALTER COLUMN "payload" DROP NOT NULL;--> statement-breakpoint
CREATE INDEX "erasure_next_at_index" ON "erasure" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "audit_log_created_at_index" ON "audit_log" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "instance_ended_index" ON "instance" USING btree ("ended_at") WHERE "instance"."ended_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "session_expires_at_index" ON "session" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "verification_expires_at_index" ON "verification" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "webhook_delivery_received_at_index" ON "webhook_delivery" USING btree ("received_at");--> statement-breakpoint
-- Logs carry no foreign keys. What they referred to is noted here by whatever deletes it, cascades included; the sweep
-- erases the logs.
CREATE FUNCTION towpath_note_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO erasure (kind, subject_id) SELECT TG_TABLE_NAME, id FROM gone ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER project_erasure AFTER DELETE ON "project" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION towpath_note_erasure();--> statement-breakpoint
CREATE TRIGGER deployment_erasure AFTER DELETE ON "deployment" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION towpath_note_erasure();--> statement-breakpoint
CREATE TRIGGER build_erasure AFTER DELETE ON "build" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION towpath_note_erasure();
