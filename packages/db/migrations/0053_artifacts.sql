CREATE TABLE "artifact" (
	"digest" text PRIMARY KEY NOT NULL,
	"last_used_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "artifact_tag" (
	"name" text PRIMARY KEY NOT NULL,
	"digest" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "artifact_tag" ADD CONSTRAINT "artifact_tag_digest_artifact_digest_fk" FOREIGN KEY ("digest") REFERENCES "public"."artifact"("digest") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "artifact_tag_digest_index" ON "artifact_tag" USING btree ("digest");