ALTER TABLE "apikey" ADD COLUMN "user_id" uuid;--> statement-breakpoint
ALTER TABLE "apikey" ADD COLUMN "project_ids" uuid[];--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "identity_assertion" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "apikey" ADD CONSTRAINT "apikey_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "apikey_user_id_index" ON "apikey" USING btree ("user_id");--> statement-breakpoint
-- A person's keys end with their membership, and stay ended when they join again. Gateways hear of both at once.
CREATE FUNCTION towpath_end_personal_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE apikey SET enabled = false, updated_at = now()
    WHERE user_id = OLD.user_id AND reference_id = OLD.organization_id AND enabled IS NOT FALSE;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER member_end_personal_keys AFTER DELETE ON "member" FOR EACH ROW EXECUTE FUNCTION towpath_end_personal_keys();--> statement-breakpoint
CREATE FUNCTION towpath_notify_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_notify('towpath_member', ''); RETURN NULL; END $$;--> statement-breakpoint
CREATE TRIGGER member_notify AFTER UPDATE OR DELETE ON "member" FOR EACH STATEMENT EXECUTE FUNCTION towpath_notify_member();
