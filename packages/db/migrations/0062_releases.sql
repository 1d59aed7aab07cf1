CREATE TABLE "deployment_approval" (
	"deployment_id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"state" text DEFAULT 'waiting' NOT NULL,
	"is_gradual" boolean NOT NULL,
	"requested_at" timestamp (3) with time zone NOT NULL,
	"decided_by_user_id" uuid,
	"decided_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "gradual_release" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"branch_id" uuid NOT NULL,
	"stable_deployment_id" uuid NOT NULL,
	"candidate_deployment_id" uuid NOT NULL,
	"state" text DEFAULT 'running' NOT NULL,
	"reason" text,
	"steps" integer[] NOT NULL,
	"step" integer DEFAULT 0 NOT NULL,
	"share" integer NOT NULL,
	"minutes_per_step" integer NOT NULL,
	"max_error_points" double precision NOT NULL,
	"max_latency_factor" double precision NOT NULL,
	"min_calls" integer NOT NULL,
	"has_sessions" boolean NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"step_started_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"next_check_at" timestamp (3) with time zone NOT NULL,
	"started_by_user_id" uuid,
	CONSTRAINT "gradual_release_share_check" CHECK ("gradual_release"."share" BETWEEN 0 AND 100),
	CONSTRAINT "gradual_release_end_check" CHECK (("gradual_release"."state" = 'running') = ("gradual_release"."ended_at" IS NULL))
);
--> statement-breakpoint
CREATE TABLE "release_policy" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"is_gradual" boolean DEFAULT false NOT NULL,
	"minutes_per_step" integer DEFAULT 15 NOT NULL,
	"max_error_points" double precision DEFAULT 2 NOT NULL,
	"max_latency_factor" double precision DEFAULT 1.5 NOT NULL,
	"min_calls" integer DEFAULT 20 NOT NULL,
	"approval" text DEFAULT 'nobody' NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "build" ADD COLUMN "is_gradual" boolean;--> statement-breakpoint
ALTER TABLE "deployment_approval" ADD CONSTRAINT "deployment_approval_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "public"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deployment_approval" ADD CONSTRAINT "deployment_approval_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deployment_approval" ADD CONSTRAINT "deployment_approval_decided_by_user_id_user_id_fk" FOREIGN KEY ("decided_by_user_id") REFERENCES "public"."user"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gradual_release" ADD CONSTRAINT "gradual_release_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gradual_release" ADD CONSTRAINT "gradual_release_branch_id_branch_id_fk" FOREIGN KEY ("branch_id") REFERENCES "public"."branch"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gradual_release" ADD CONSTRAINT "gradual_release_stable_deployment_id_deployment_id_fk" FOREIGN KEY ("stable_deployment_id") REFERENCES "public"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gradual_release" ADD CONSTRAINT "gradual_release_candidate_deployment_id_deployment_id_fk" FOREIGN KEY ("candidate_deployment_id") REFERENCES "public"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "gradual_release" ADD CONSTRAINT "gradual_release_started_by_user_id_user_id_fk" FOREIGN KEY ("started_by_user_id") REFERENCES "public"."user"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "release_policy" ADD CONSTRAINT "release_policy_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "deployment_approval_project_id_index" ON "deployment_approval" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "deployment_approval_decided_by_user_id_index" ON "deployment_approval" USING btree ("decided_by_user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "gradual_release_running_index" ON "gradual_release" USING btree ("branch_id") WHERE "gradual_release"."state" = 'running';--> statement-breakpoint
CREATE INDEX "gradual_release_due_index" ON "gradual_release" USING btree ("next_check_at") WHERE "gradual_release"."state" = 'running';--> statement-breakpoint
CREATE INDEX "gradual_release_branch_id_started_at_index" ON "gradual_release" USING btree ("branch_id","started_at");--> statement-breakpoint
CREATE INDEX "gradual_release_project_id_started_at_index" ON "gradual_release" USING btree ("project_id","started_at");--> statement-breakpoint
CREATE INDEX "gradual_release_stable_deployment_id_index" ON "gradual_release" USING btree ("stable_deployment_id");--> statement-breakpoint
CREATE INDEX "gradual_release_candidate_deployment_id_index" ON "gradual_release" USING btree ("candidate_deployment_id");--> statement-breakpoint
CREATE INDEX "gradual_release_started_by_user_id_index" ON "gradual_release" USING btree ("started_by_user_id");--> statement-breakpoint
CREATE TRIGGER gradual_release_notify AFTER INSERT OR DELETE OR UPDATE OF "share", "state" ON "gradual_release" FOR EACH ROW EXECUTE FUNCTION towpath_notify_route_of_project();
