DROP INDEX "request_log_error_index";--> statement-breakpoint
DROP INDEX "request_log_caller_project_id_last_slot_index";--> statement-breakpoint
ALTER TABLE "request_log_session" ALTER COLUMN "caller_ids" SET DEFAULT '{}';