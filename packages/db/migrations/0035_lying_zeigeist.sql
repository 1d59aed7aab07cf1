ALTER TABLE "build" ADD COLUMN "package_version" text;--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "package_name" text;--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "follows_package" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "project_followed_package_index" ON "project" USING btree ("package_name") WHERE "project"."follows_package";