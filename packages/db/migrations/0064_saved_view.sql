CREATE TABLE "default_view" (
	"id" uuid PRIMARY KEY NOT NULL,
	"view_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"project_id" uuid,
	"list" text NOT NULL,
	CONSTRAINT "default_view_list" UNIQUE NULLS NOT DISTINCT("organization_id","user_id","project_id","list")
);
--> statement-breakpoint
CREATE TABLE "saved_view" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"project_id" uuid,
	"list" text NOT NULL,
	"user_id" uuid,
	"name" text NOT NULL,
	"search" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "saved_view_name" UNIQUE NULLS NOT DISTINCT("organization_id","user_id","project_id","list","name")
);
--> statement-breakpoint
CREATE TABLE "server_icon" (
	"project_id" uuid NOT NULL,
	"hash" text NOT NULL,
	"content_type" text NOT NULL,
	"bytes" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "server_icon_project_id_hash_pk" PRIMARY KEY("project_id","hash")
);
--> statement-breakpoint
ALTER TABLE "build" ADD COLUMN "icon_hash" text;--> statement-breakpoint
ALTER TABLE "external_server" ADD COLUMN "icon_hash" text;--> statement-breakpoint
ALTER TABLE "external_server" ADD COLUMN "icon_source" text;--> statement-breakpoint
ALTER TABLE "default_view" ADD CONSTRAINT "default_view_view_id_saved_view_id_fk" FOREIGN KEY ("view_id") REFERENCES "public"."saved_view"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "default_view" ADD CONSTRAINT "default_view_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "default_view" ADD CONSTRAINT "default_view_member" FOREIGN KEY ("organization_id","user_id") REFERENCES "public"."member"("organization_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_member" FOREIGN KEY ("organization_id","user_id") REFERENCES "public"."member"("organization_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_icon" ADD CONSTRAINT "server_icon_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "default_view_view_id_index" ON "default_view" USING btree ("view_id");--> statement-breakpoint
CREATE INDEX "default_view_project_id_index" ON "default_view" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "saved_view_project_id_index" ON "saved_view" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "server_icon_hash_index" ON "server_icon" USING btree ("hash");