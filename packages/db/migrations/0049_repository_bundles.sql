CREATE TABLE "repository_bundles" (
	"repository_id" uuid PRIMARY KEY NOT NULL,
	"generation" integer DEFAULT 0 NOT NULL,
	"head" text NOT NULL,
	"refs" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"bundles" text[] DEFAULT '{}'::text[] NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "repository_bundles" ADD CONSTRAINT "repository_bundles_repository_id_repository_id_fk" FOREIGN KEY ("repository_id") REFERENCES "public"."repository"("id") ON DELETE cascade ON UPDATE no action;