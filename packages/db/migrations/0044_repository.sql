CREATE TABLE "repository" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"default_branch" text DEFAULT 'main' NOT NULL,
	"made_by" text NOT NULL,
	"created_by" uuid,
	"pushed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "git_source" ALTER COLUMN "url" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "git_source" ADD COLUMN "repository_id" uuid;--> statement-breakpoint
ALTER TABLE "repository" ADD CONSTRAINT "repository_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repository" ADD CONSTRAINT "repository_created_by_user_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."user"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "repository_organization_id_name_index" ON "repository" USING btree ("organization_id","name");--> statement-breakpoint
CREATE INDEX "repository_created_by_index" ON "repository" USING btree ("created_by");--> statement-breakpoint
ALTER TABLE "git_source" ADD CONSTRAINT "git_source_repository_id_repository_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repository"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "git_source_repository_id_index" ON "git_source" USING btree ("repository_id");--> statement-breakpoint
ALTER TABLE "git_source" ADD CONSTRAINT "git_source_place_check" CHECK (num_nonnulls("git_source"."url", "git_source"."repository_id") = 1);