CREATE TABLE "github_check" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"repository_id" bigint NOT NULL,
	"etag" text,
	"heads" jsonb,
	"checked_at" timestamp (3) with time zone,
	"next_check_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"changed_at" timestamp (3) with time zone,
	"webhook_at" timestamp (3) with time zone,
	"missed_at" timestamp (3) with time zone,
	"problem" jsonb
);
--> statement-breakpoint
CREATE TABLE "github_connection" (
	"id" uuid PRIMARY KEY NOT NULL,
	"number" integer GENERATED ALWAYS AS IDENTITY (sequence name "github_connection_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"url" text NOT NULL,
	"api_url" text NOT NULL,
	"app_id" text NOT NULL,
	"app_slug" text NOT NULL,
	"client_id" text NOT NULL,
	"owner_login" text NOT NULL,
	"wraps" jsonb NOT NULL,
	"secrets_ciphertext" text NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"created_by_user_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "github_user" (
	"user_id" uuid NOT NULL,
	"connection" integer NOT NULL,
	"github_user_id" bigint NOT NULL,
	CONSTRAINT "github_user_user_id_connection_pk" PRIMARY KEY("user_id","connection")
);
--> statement-breakpoint
ALTER TABLE "webhook_delivery" ADD COLUMN "connection" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "github_check" ADD CONSTRAINT "github_check_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "github_connection" ADD CONSTRAINT "github_connection_created_by_user_id_user_id_fk" FOREIGN KEY ("created_by_user_id") REFERENCES "public"."user"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "github_user" ADD CONSTRAINT "github_user_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "github_check_next_check_at_index" ON "github_check" USING btree ("next_check_at");--> statement-breakpoint
CREATE UNIQUE INDEX "github_connection_number_index" ON "github_connection" USING btree ("number");--> statement-breakpoint
CREATE UNIQUE INDEX "github_connection_api_url_app_id_index" ON "github_connection" USING btree ("api_url","app_id");--> statement-breakpoint
CREATE INDEX "github_connection_created_by_user_id_index" ON "github_connection" USING btree ("created_by_user_id");--> statement-breakpoint
CREATE INDEX "github_user_github_user_id_index" ON "github_user" USING btree ("github_user_id");--> statement-breakpoint
-- Who has authorized the App so far did so at the environment's.
INSERT INTO "github_user" ("user_id", "connection", "github_user_id")
SELECT "id", 0, "github_user_id" FROM "user" WHERE "github_user_id" IS NOT NULL;
