CREATE TABLE "domain" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"token" text NOT NULL,
	"active_at" timestamp (3) with time zone,
	"ownership_seen_at" timestamp (3) with time zone,
	"ownership_problem" text,
	"address_seen_at" timestamp (3) with time zone,
	"address_problem" text,
	"checked_at" timestamp (3) with time zone,
	"next_check_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "domain" ADD CONSTRAINT "domain_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "domain_project_id_name_index" ON "domain" USING btree ("project_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "domain_active_index" ON "domain" USING btree ("name") WHERE "domain"."active_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "domain_next_check_at_index" ON "domain" USING btree ("next_check_at");--> statement-breakpoint
CREATE TRIGGER domain_notify AFTER INSERT OR DELETE OR UPDATE OF "active_at", "project_id" ON "domain" FOR EACH STATEMENT EXECUTE FUNCTION towpath_notify_route();
