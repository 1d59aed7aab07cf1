CREATE TABLE "oauth_consent" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"app" text NOT NULL,
	"return_address" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "oauth_authorization" ADD COLUMN "is_remembered" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "oauth_client" ADD COLUMN "app" text;--> statement-breakpoint
ALTER TABLE "oauth_refresh_token" ADD COLUMN "is_renewed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "oauth_refresh_token" ADD COLUMN "renewed_by" text;--> statement-breakpoint
ALTER TABLE "oauth_refresh_token" ADD COLUMN "returned_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "oauth_refresh_token" ADD COLUMN "replaced_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "sign_in_step" ADD COLUMN "fault" text;--> statement-breakpoint
ALTER TABLE "oauth_consent" ADD CONSTRAINT "oauth_consent_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_consent" ADD CONSTRAINT "oauth_consent_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_consent_user_id_project_id_app_return_address_index" ON "oauth_consent" USING btree ("user_id","project_id","app","return_address");--> statement-breakpoint
CREATE INDEX "oauth_consent_project_id_index" ON "oauth_consent" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "oauth_consent_expires_at_index" ON "oauth_consent" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "oauth_client_app_index" ON "oauth_client" USING btree ("app");--> statement-breakpoint
-- Tokens of clients that don't renew them live 30 days, and their key as long.
UPDATE "jwks" SET "expires_at" = "expires_at" + interval '30 days';
