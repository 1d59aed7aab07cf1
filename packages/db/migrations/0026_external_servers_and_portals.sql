CREATE TABLE "external_server" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"url" text NOT NULL,
	"credential_header" text,
	"credential_ciphertext" text,
	"credential_version" integer DEFAULT 0 NOT NULL,
	"manifest" json,
	"manifest_at" timestamp (3) with time zone,
	"problem" jsonb,
	"checked_at" timestamp (3) with time zone,
	"next_check_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "external_server_credential_check" CHECK (num_nonnulls("external_server"."credential_header", "external_server"."credential_ciphertext") <> 1)
);
--> statement-breakpoint
CREATE TABLE "portal" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"instructions" text,
	"revision" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "portal_server" (
	"portal_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"prefix" text NOT NULL,
	"tools" text[],
	"resources" text[],
	"prompts" text[],
	CONSTRAINT "portal_server_portal_id_project_id_pk" PRIMARY KEY("portal_id","project_id")
);
--> statement-breakpoint
ALTER TABLE "external_server" ADD CONSTRAINT "external_server_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "portal" ADD CONSTRAINT "portal_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "portal_server" ADD CONSTRAINT "portal_server_portal_id_portal_id_fk" FOREIGN KEY ("portal_id") REFERENCES "public"."portal"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "portal_server" ADD CONSTRAINT "portal_server_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "external_server_project_id_index" ON "external_server" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "external_server_next_check_at_index" ON "external_server" USING btree ("next_check_at");--> statement-breakpoint
CREATE UNIQUE INDEX "portal_project_id_index" ON "portal" USING btree ("project_id");--> statement-breakpoint
CREATE UNIQUE INDEX "portal_server_portal_id_prefix_index" ON "portal_server" USING btree ("portal_id","prefix");--> statement-breakpoint
CREATE INDEX "portal_server_project_id_index" ON "portal_server" USING btree ("project_id");--> statement-breakpoint
ALTER TABLE "route" ADD CONSTRAINT "route_external_server_id_external_server_id_fk" FOREIGN KEY ("external_server_id") REFERENCES "public"."external_server"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "route" ADD CONSTRAINT "route_portal_id_portal_id_fk" FOREIGN KEY ("portal_id") REFERENCES "public"."portal"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "route_external_server_id_index" ON "route" USING btree ("external_server_id");--> statement-breakpoint
CREATE INDEX "route_portal_id_index" ON "route" USING btree ("portal_id");--> statement-breakpoint
-- Gateways read these with the routes. Not for the times of inspections, which change nothing for callers.
CREATE TRIGGER external_server_notify AFTER INSERT OR DELETE OR UPDATE OF "url", "credential_header", "credential_ciphertext", "manifest" ON "external_server" FOR EACH STATEMENT EXECUTE FUNCTION towpath_notify_route();--> statement-breakpoint
CREATE TRIGGER portal_notify AFTER INSERT OR UPDATE OR DELETE ON "portal" FOR EACH STATEMENT EXECUTE FUNCTION towpath_notify_route();--> statement-breakpoint
CREATE TRIGGER portal_server_notify AFTER INSERT OR UPDATE OR DELETE ON "portal_server" FOR EACH STATEMENT EXECUTE FUNCTION towpath_notify_route();
