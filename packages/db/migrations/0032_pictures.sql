CREATE TABLE "picture" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid,
	"organization_id" uuid,
	"hash" text NOT NULL,
	"content_type" text NOT NULL,
	"bytes" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "picture_userId_unique" UNIQUE("user_id"),
	CONSTRAINT "picture_organizationId_unique" UNIQUE("organization_id"),
	CONSTRAINT "picture_owner" CHECK (num_nonnulls("picture"."user_id", "picture"."organization_id") = 1)
);
--> statement-breakpoint
ALTER TABLE "picture" ADD CONSTRAINT "picture_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "picture" ADD CONSTRAINT "picture_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "picture_hash_index" ON "picture" USING btree ("hash");