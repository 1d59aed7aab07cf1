CREATE TABLE "sign_in_step" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sign_in_step_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"time" timestamp (3) with time zone NOT NULL,
	"project_id" uuid,
	"kind" text NOT NULL,
	"problem" text,
	"is_proven" boolean NOT NULL,
	"client_id" text,
	"client_name" text,
	"agent" text,
	"network" text,
	"user_id" uuid,
	"key_id" uuid,
	"authorization_id" uuid,
	"detail" text,
	"left_out" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "sign_in_step" ADD CONSTRAINT "sign_in_step_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "sign_in_step_project_id_is_proven_id_index" ON "sign_in_step" USING btree ("project_id","is_proven","id");--> statement-breakpoint
CREATE INDEX "sign_in_step_is_proven_time_index" ON "sign_in_step" USING btree ("is_proven","time");--> statement-breakpoint
CREATE INDEX "sign_in_step_unplaced" ON "sign_in_step" USING btree ("time") WHERE project_id IS NULL;