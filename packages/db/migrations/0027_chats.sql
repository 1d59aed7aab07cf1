CREATE TABLE "chat" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"title" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "chat_turn" (
	"id" uuid PRIMARY KEY NOT NULL,
	"chat_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"question" text NOT NULL,
	"attachments" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"model" text NOT NULL,
	"deployment_id" uuid NOT NULL,
	"status" text NOT NULL,
	"parts" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"problem" jsonb,
	"replies" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"input_tokens" integer DEFAULT 0 NOT NULL,
	"output_tokens" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "chat_usage" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"model" text NOT NULL,
	"input_tokens" integer DEFAULT 0 NOT NULL,
	"output_tokens" integer DEFAULT 0 NOT NULL,
	"time" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "suggested_questions" (
	"project_id" uuid NOT NULL,
	"digest" text NOT NULL,
	"questions" text[] NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "suggested_questions_project_id_digest_pk" PRIMARY KEY("project_id","digest")
);
--> statement-breakpoint
ALTER TABLE "chat" ADD CONSTRAINT "chat_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat" ADD CONSTRAINT "chat_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_turn" ADD CONSTRAINT "chat_turn_chat_id_chat_id_fk" FOREIGN KEY ("chat_id") REFERENCES "public"."chat"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_usage" ADD CONSTRAINT "chat_usage_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "suggested_questions" ADD CONSTRAINT "suggested_questions_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "chat_project_id_user_id_updated_at_index" ON "chat" USING btree ("project_id","user_id","updated_at");--> statement-breakpoint
CREATE INDEX "chat_user_id_index" ON "chat" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "chat_updated_at_index" ON "chat" USING btree ("updated_at");--> statement-breakpoint
CREATE UNIQUE INDEX "chat_turn_chat_id_number_index" ON "chat_turn" USING btree ("chat_id","number");--> statement-breakpoint
CREATE INDEX "chat_usage_organization_id_time_index" ON "chat_usage" USING btree ("organization_id","time");--> statement-breakpoint
CREATE INDEX "chat_usage_user_id_time_index" ON "chat_usage" USING btree ("user_id","time");--> statement-breakpoint
CREATE INDEX "chat_usage_time_index" ON "chat_usage" USING btree ("time");--> statement-breakpoint
CREATE INDEX "suggested_questions_created_at_index" ON "suggested_questions" USING btree ("created_at");