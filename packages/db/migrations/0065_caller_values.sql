CREATE TABLE "caller_value" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"key_name" text NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"ciphertext" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "instance" ADD COLUMN "caller_id" uuid;--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "caller_instances" integer DEFAULT 20 NOT NULL;--> statement-breakpoint
ALTER TABLE "secret" ADD COLUMN "per_caller" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "caller_value" ADD CONSTRAINT "caller_value_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "caller_value" ADD CONSTRAINT "caller_value_member" FOREIGN KEY ("organization_id","user_id") REFERENCES "public"."member"("organization_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "caller_value_project_id_user_id_key_name_index" ON "caller_value" USING btree ("project_id","user_id","key_name");--> statement-breakpoint
CREATE INDEX "caller_value_organization_id_user_id_index" ON "caller_value" USING btree ("organization_id","user_id");--> statement-breakpoint
-- Gateways serve each caller by an instance of their own from the moment that a variable is per caller.
CREATE TRIGGER secret_notify AFTER INSERT OR DELETE OR UPDATE OF "per_caller", "environments", "key_name" ON "secret" FOR EACH ROW EXECUTE FUNCTION towpath_notify_route_of_project();--> statement-breakpoint
CREATE FUNCTION towpath_notify_caller_value() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Gateways end the instance that has the earlier value: project and person.
  PERFORM pg_notify('towpath_caller_value', coalesce(NEW.project_id, OLD.project_id) || ' ' || coalesce(NEW.user_id, OLD.user_id));
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER caller_value_notify AFTER INSERT OR UPDATE OR DELETE ON "caller_value" FOR EACH ROW EXECUTE FUNCTION towpath_notify_caller_value();
