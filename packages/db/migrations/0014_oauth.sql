CREATE TABLE "jwks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"public_key" text NOT NULL,
	"private_key" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "oauth_authorization" (
	"id" uuid PRIMARY KEY NOT NULL,
	"request_hash" text NOT NULL,
	"status" text NOT NULL,
	"client_id" text NOT NULL,
	"project_id" uuid NOT NULL,
	"redirect_uri" text NOT NULL,
	"state" text,
	"code_challenge" text NOT NULL,
	"resource" text NOT NULL,
	"scopes" text[] NOT NULL,
	"grant_id" uuid,
	"code_hash" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "oauth_authorization_requestHash_unique" UNIQUE("request_hash")
);
--> statement-breakpoint
CREATE TABLE "oauth_client" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"uri" text,
	"software_version" text,
	"redirect_uris" text[] NOT NULL,
	"token_endpoint_auth_method" text NOT NULL,
	"secret_hash" text,
	"grant_types" text[] NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"stale_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "oauth_grant" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"client_id" text NOT NULL,
	"project_id" uuid NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "oauth_refresh_token" (
	"hash" text PRIMARY KEY NOT NULL,
	"grant_id" uuid NOT NULL,
	"family_id" uuid NOT NULL,
	"resource" text NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"rotated_at" timestamp (3) with time zone,
	"successor" text
);
--> statement-breakpoint
ALTER TABLE "oauth_authorization" ADD CONSTRAINT "oauth_authorization_client_id_oauth_client_id_fk" FOREIGN KEY ("client_id") REFERENCES "public"."oauth_client"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_authorization" ADD CONSTRAINT "oauth_authorization_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_authorization" ADD CONSTRAINT "oauth_authorization_grant_id_oauth_grant_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."oauth_grant"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_grant" ADD CONSTRAINT "oauth_grant_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_grant" ADD CONSTRAINT "oauth_grant_client_id_oauth_client_id_fk" FOREIGN KEY ("client_id") REFERENCES "public"."oauth_client"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_grant" ADD CONSTRAINT "oauth_grant_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_refresh_token" ADD CONSTRAINT "oauth_refresh_token_grant_id_oauth_grant_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."oauth_grant"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "jwks_expires_at_index" ON "jwks" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_authorization_code_hash_index" ON "oauth_authorization" USING btree ("code_hash");--> statement-breakpoint
CREATE INDEX "oauth_authorization_expires_at_index" ON "oauth_authorization" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "oauth_authorization_client_id_index" ON "oauth_authorization" USING btree ("client_id");--> statement-breakpoint
CREATE INDEX "oauth_authorization_project_id_index" ON "oauth_authorization" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "oauth_authorization_grant_id_index" ON "oauth_authorization" USING btree ("grant_id");--> statement-breakpoint
CREATE INDEX "oauth_client_last_used_at_index" ON "oauth_client" USING btree ("last_used_at");--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_grant_current" ON "oauth_grant" USING btree ("user_id","client_id","project_id") WHERE revoked_at IS NULL;--> statement-breakpoint
CREATE INDEX "oauth_grant_user_id_index" ON "oauth_grant" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "oauth_grant_client_id_index" ON "oauth_grant" USING btree ("client_id");--> statement-breakpoint
CREATE INDEX "oauth_grant_project_id_index" ON "oauth_grant" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "oauth_grant_revoked_at_index" ON "oauth_grant" USING btree ("revoked_at");--> statement-breakpoint
CREATE INDEX "oauth_refresh_token_grant_id_index" ON "oauth_refresh_token" USING btree ("grant_id");--> statement-breakpoint
CREATE INDEX "oauth_refresh_token_family_id_index" ON "oauth_refresh_token" USING btree ("family_id");--> statement-breakpoint
CREATE INDEX "oauth_refresh_token_expires_at_index" ON "oauth_refresh_token" USING btree ("expires_at");--> statement-breakpoint
CREATE FUNCTION towpath_notify_oauth_grant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_notify('towpath_oauth_grant', ''); RETURN NULL; END $$;--> statement-breakpoint
-- Not for the mark of last use: it says nothing about whether a grant holds, and would empty every gateway's memory.
CREATE TRIGGER oauth_grant_notify AFTER UPDATE OF "revoked_at" OR DELETE ON "oauth_grant" FOR EACH STATEMENT EXECUTE FUNCTION towpath_notify_oauth_grant();
