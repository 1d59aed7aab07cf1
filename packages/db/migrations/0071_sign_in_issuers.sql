CREATE TABLE "oauth_assertion" (
	"hash" text PRIMARY KEY NOT NULL,
	"issuer_id" uuid,
	"grant_id" uuid NOT NULL,
	"family_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_issuer" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"issuer" text NOT NULL,
	"matches_email" boolean DEFAULT false NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"problem" text,
	"created_by_user_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "oauth_grant" ADD COLUMN "issuer_id" uuid;--> statement-breakpoint
ALTER TABLE "oauth_assertion" ADD CONSTRAINT "oauth_assertion_issuer_id_sign_in_issuer_id_fk" FOREIGN KEY ("issuer_id") REFERENCES "public"."sign_in_issuer"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_assertion" ADD CONSTRAINT "oauth_assertion_grant_id_oauth_grant_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."oauth_grant"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_in_issuer" ADD CONSTRAINT "sign_in_issuer_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_in_issuer" ADD CONSTRAINT "sign_in_issuer_created_by_user_id_user_id_fk" FOREIGN KEY ("created_by_user_id") REFERENCES "public"."user"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "oauth_assertion_issuer_id_index" ON "oauth_assertion" USING btree ("issuer_id");--> statement-breakpoint
CREATE INDEX "oauth_assertion_grant_id_index" ON "oauth_assertion" USING btree ("grant_id");--> statement-breakpoint
CREATE INDEX "oauth_assertion_expires_at_index" ON "oauth_assertion" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "sign_in_issuer_organization_id_issuer_index" ON "sign_in_issuer" USING btree ("organization_id","issuer");--> statement-breakpoint
CREATE INDEX "sign_in_issuer_created_by_user_id_index" ON "sign_in_issuer" USING btree ("created_by_user_id");--> statement-breakpoint
ALTER TABLE "oauth_grant" ADD CONSTRAINT "oauth_grant_issuer_id_sign_in_issuer_id_fk" FOREIGN KEY ("issuer_id") REFERENCES "public"."sign_in_issuer"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "oauth_grant_issuer_id_index" ON "oauth_grant" USING btree ("issuer_id");