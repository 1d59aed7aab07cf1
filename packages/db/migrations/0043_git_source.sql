CREATE TABLE "git_source" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"url" text NOT NULL,
	"branch" text,
	"previews" boolean DEFAULT false NOT NULL,
	"credential_kind" text,
	"credential_ciphertext" text,
	"credential_version" integer DEFAULT 0 NOT NULL,
	"deploy_key_public" text,
	"credential_expires_at" timestamp (3) with time zone,
	"webhook_secret_ciphertext" text,
	"webhook_at" timestamp (3) with time zone,
	"heads" jsonb,
	"checked_at" timestamp (3) with time zone,
	"next_check_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"changed_at" timestamp (3) with time zone,
	"problem" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "git_source_credential_check" CHECK (num_nonnulls("git_source"."credential_kind", "git_source"."credential_ciphertext") <> 1)
);
--> statement-breakpoint
ALTER TABLE "git_source" ADD CONSTRAINT "git_source_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "git_source_next_check_at_index" ON "git_source" USING btree ("next_check_at");