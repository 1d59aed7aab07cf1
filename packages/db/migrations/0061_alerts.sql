CREATE TABLE "alert_channel" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"format" text NOT NULL,
	"user_ids" uuid[],
	"host" text,
	"wraps" jsonb,
	"sealed" text,
	"events" text[] NOT NULL,
	"project_ids" uuid[],
	"quiet_from" smallint,
	"quiet_to" smallint,
	"time_zone" text,
	"disabled_for" text,
	"failures" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"claimed_until" timestamp (3) with time zone,
	"created_by_user_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alert_delivery" (
	"id" uuid PRIMARY KEY NOT NULL,
	"channel_id" uuid NOT NULL,
	"event_id" uuid,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"digest_id" uuid,
	"due_at" timestamp (3) with time zone NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_attempt_at" timestamp (3) with time zone,
	"last_status" smallint,
	"last_answer" text,
	"mail_ids" uuid[],
	"settled_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alert_event" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"group_key" text NOT NULL,
	"detail" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expanded_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "alert_rule" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"latency_ms" integer,
	"latency_factor" smallint,
	"slow_since" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "alert_channel" ADD CONSTRAINT "alert_channel_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alert_channel" ADD CONSTRAINT "alert_channel_created_by_user_id_user_id_fk" FOREIGN KEY ("created_by_user_id") REFERENCES "public"."user"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alert_delivery" ADD CONSTRAINT "alert_delivery_channel_id_alert_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."alert_channel"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alert_delivery" ADD CONSTRAINT "alert_delivery_event_id_alert_event_id_fk" FOREIGN KEY ("event_id") REFERENCES "public"."alert_event"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alert_delivery" ADD CONSTRAINT "alert_delivery_digest_id_alert_delivery_id_fk" FOREIGN KEY ("digest_id") REFERENCES "public"."alert_delivery"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alert_event" ADD CONSTRAINT "alert_event_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alert_rule" ADD CONSTRAINT "alert_rule_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "alert_channel_organization_id_index" ON "alert_channel" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "alert_channel_created_by_user_id_index" ON "alert_channel" USING btree ("created_by_user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "alert_delivery_channel_id_event_id_index" ON "alert_delivery" USING btree ("channel_id","event_id");--> statement-breakpoint
CREATE INDEX "alert_delivery_channel_id_created_at_index" ON "alert_delivery" USING btree ("channel_id","created_at");--> statement-breakpoint
CREATE INDEX "alert_delivery_event_id_index" ON "alert_delivery" USING btree ("event_id");--> statement-breakpoint
CREATE INDEX "alert_delivery_digest_id_index" ON "alert_delivery" USING btree ("digest_id");--> statement-breakpoint
CREATE INDEX "alert_delivery_created_at_index" ON "alert_delivery" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "alert_delivery_due_index" ON "alert_delivery" USING btree ("channel_id","due_at") WHERE "alert_delivery"."status" IN ('held', 'waiting');--> statement-breakpoint
CREATE UNIQUE INDEX "alert_event_project_id_group_key_index" ON "alert_event" USING btree ("project_id","group_key");--> statement-breakpoint
CREATE INDEX "alert_event_created_at_index" ON "alert_event" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "alert_event_new_index" ON "alert_event" USING btree ("id") WHERE "alert_event"."expanded_at" IS NULL;
