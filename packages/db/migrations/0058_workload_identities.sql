CREATE TABLE "workload_identity" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"issuer" text NOT NULL,
	"jwks_url" text,
	"key_set" text,
	"ca" text,
	"subjects" text[] NOT NULL,
	"project_ids" uuid[],
	"enabled" boolean DEFAULT true NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"problem" text,
	"created_by_user_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "workload_identity" ADD CONSTRAINT "workload_identity_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workload_identity" ADD CONSTRAINT "workload_identity_created_by_user_id_user_id_fk" FOREIGN KEY ("created_by_user_id") REFERENCES "public"."user"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "workload_identity_organization_id_issuer_index" ON "workload_identity" USING btree ("organization_id","issuer");--> statement-breakpoint
CREATE INDEX "workload_identity_created_by_user_id_index" ON "workload_identity" USING btree ("created_by_user_id");--> statement-breakpoint
CREATE FUNCTION towpath_notify_workload_identity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_notify('towpath_workload_identity', ''); RETURN NULL; END $$;--> statement-breakpoint
-- Not for `last_used_at` and `problem`, which gateways write themselves.
CREATE TRIGGER workload_identity_notify AFTER INSERT OR DELETE OR UPDATE OF "enabled", "issuer", "jwks_url", "key_set", "ca", "subjects", "project_ids" ON "workload_identity" FOR EACH STATEMENT EXECUTE FUNCTION towpath_notify_workload_identity();
