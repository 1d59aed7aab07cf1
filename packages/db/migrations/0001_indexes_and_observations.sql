ALTER TABLE "branch" ADD COLUMN "observation" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "branch" ADD COLUMN "hinted_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "github_installation" ADD COLUMN "suspended_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "invitation_inviter_id_index" ON "invitation" USING btree ("inviter_id");--> statement-breakpoint
CREATE INDEX "branch_hinted_index" ON "branch" USING btree ("hinted_at") WHERE "branch"."hinted_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "build_created_by_user_id_index" ON "build" USING btree ("created_by_user_id");--> statement-breakpoint
CREATE INDEX "deployment_branch_id_index" ON "deployment" USING btree ("branch_id");--> statement-breakpoint
CREATE INDEX "github_installation_installed_by_user_id_index" ON "github_installation" USING btree ("installed_by_user_id");--> statement-breakpoint
CREATE INDEX "project_installation_id_index" ON "project" USING btree ("installation_id");--> statement-breakpoint
CREATE INDEX "project_created_by_user_id_index" ON "project" USING btree ("created_by_user_id");--> statement-breakpoint
CREATE INDEX "request_log_errors_index" ON "request_log" USING btree ("project_id","time" DESC NULLS LAST,"id" DESC NULLS LAST) WHERE "request_log"."is_error";--> statement-breakpoint
CREATE INDEX "route_deployment_id_index" ON "route" USING btree ("deployment_id");--> statement-breakpoint
CREATE INDEX "webhook_delivery_open_index" ON "webhook_delivery" USING btree ("received_at") WHERE "webhook_delivery"."processed_at" IS NULL;