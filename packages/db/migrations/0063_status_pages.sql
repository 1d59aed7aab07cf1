ALTER TABLE "organization" ADD COLUMN "has_status_page" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE TABLE "server_day" (
	"project_id" uuid NOT NULL,
	"day" date NOT NULL,
	"calls" bigint NOT NULL,
	"unanswered" bigint NOT NULL,
	"p95_ms" double precision,
	"counted_to" timestamp (3) with time zone NOT NULL,
	"is_final" boolean NOT NULL,
	CONSTRAINT "server_day_project_id_day_pk" PRIMARY KEY("project_id","day")
);
--> statement-breakpoint
ALTER TABLE "server_day" ADD CONSTRAINT "server_day_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "server_day_day_index" ON "server_day" USING btree ("day");
