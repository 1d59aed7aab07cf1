CREATE TABLE "branch_report" (
	"branch_id" uuid PRIMARY KEY NOT NULL,
	"claimed_until" timestamp (3) with time zone,
	"head_commit_sha" text,
	"head_check_run_id" bigint,
	"head_check" text
);
--> statement-breakpoint
CREATE TABLE "build_report" (
	"build_id" uuid PRIMARY KEY NOT NULL,
	"check_run_id" bigint,
	"check" text,
	"deployment_id" bigint,
	"deployment_state" text
);
--> statement-breakpoint
CREATE TABLE "fork_pull_request" (
	"branch_id" uuid PRIMARY KEY NOT NULL,
	"repository_id" bigint,
	"repository_full_name" text,
	"head_branch" text NOT NULL,
	"author" text NOT NULL,
	"title" text NOT NULL,
	"commit_sha" text NOT NULL,
	"commit_message" text,
	"commit_author" text,
	"state" text DEFAULT 'waiting' NOT NULL,
	"waiting_since" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"decided_by_user_id" uuid,
	"decided_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "pull_request_comment" (
	"organization_id" uuid NOT NULL,
	"repository_id" bigint NOT NULL,
	"number" integer NOT NULL,
	"comment_id" bigint,
	"content" text,
	"claimed_until" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "pull_request_comment_organization_id_repository_id_number_pk" PRIMARY KEY("organization_id","repository_id","number")
);
--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "fail_on_breaking_changes" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "branch_report" ADD CONSTRAINT "branch_report_branch_id_branch_id_fk" FOREIGN KEY ("branch_id") REFERENCES "public"."branch"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "build_report" ADD CONSTRAINT "build_report_build_id_build_id_fk" FOREIGN KEY ("build_id") REFERENCES "public"."build"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "fork_pull_request" ADD CONSTRAINT "fork_pull_request_branch_id_branch_id_fk" FOREIGN KEY ("branch_id") REFERENCES "public"."branch"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "fork_pull_request" ADD CONSTRAINT "fork_pull_request_decided_by_user_id_user_id_fk" FOREIGN KEY ("decided_by_user_id") REFERENCES "public"."user"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pull_request_comment" ADD CONSTRAINT "pull_request_comment_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "fork_pull_request_decided_by_user_id_index" ON "fork_pull_request" USING btree ("decided_by_user_id");--> statement-breakpoint
CREATE INDEX "pull_request_comment_updated_at_index" ON "pull_request_comment" USING btree ("updated_at");