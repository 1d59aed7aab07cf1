CREATE TABLE "access_policy" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"roles" text[],
	"api_key_ids" uuid[],
	"tools" text[],
	"known_tools" text[] DEFAULT '{}' NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "access_policy" ADD CONSTRAINT "access_policy_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- Gateways read it with the routes.
CREATE TRIGGER access_policy_notify AFTER INSERT OR UPDATE OR DELETE ON "access_policy" FOR EACH STATEMENT EXECUTE FUNCTION towpath_notify_route();
