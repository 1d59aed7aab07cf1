CREATE TABLE "data_key" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"wraps" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "master_key" (
	"id" text PRIMARY KEY NOT NULL,
	"proof" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "secret_version" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"project_id" uuid NOT NULL,
	"secret_id" uuid NOT NULL,
	"key_name" text NOT NULL,
	"environments" text[] NOT NULL,
	"version" integer NOT NULL,
	"ciphertext" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "build" ADD COLUMN "secret_version_ids" uuid[];--> statement-breakpoint
ALTER TABLE "data_key" ADD CONSTRAINT "data_key_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "data_key" ADD CONSTRAINT "data_key_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "secret_version" ADD CONSTRAINT "secret_version_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "data_key_project_id_index" ON "data_key" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "data_key_organization_id_index" ON "data_key" USING btree ("organization_id");--> statement-breakpoint
CREATE UNIQUE INDEX "secret_version_secret_id_version_index" ON "secret_version" USING btree ("secret_id","version");--> statement-breakpoint
CREATE INDEX "secret_version_project_id_index" ON "secret_version" USING btree ("project_id");--> statement-breakpoint
-- Versions are kept by the database, so that no writer can forget one: those of earlier releases run on beside this one.
CREATE FUNCTION towpath_keep_secret_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO secret_version (project_id, secret_id, key_name, environments, version, ciphertext, created_at)
  VALUES (NEW.project_id, NEW.id, NEW.key_name, NEW.environments, NEW.version, NEW.ciphertext, NEW.updated_at)
  ON CONFLICT (secret_id, version) DO UPDATE SET ciphertext = excluded.ciphertext;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER secret_version AFTER INSERT OR UPDATE OF ciphertext ON "secret" FOR EACH ROW EXECUTE FUNCTION towpath_keep_secret_version();--> statement-breakpoint
INSERT INTO secret_version (project_id, secret_id, key_name, environments, version, ciphertext, created_at)
SELECT project_id, id, key_name, environments, version, ciphertext, updated_at FROM secret;--> statement-breakpoint
-- What was deployed before keeps the values of today.
UPDATE build SET secret_version_ids = ARRAY(
  SELECT version.id FROM secret_version version
  WHERE version.project_id = build.project_id AND deployment.environment = ANY (version.environments))
FROM deployment WHERE deployment.build_id = build.id;
