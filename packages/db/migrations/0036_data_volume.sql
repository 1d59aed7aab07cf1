CREATE TABLE "data_volume" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"used_bytes" bigint NOT NULL,
	"capacity_bytes" bigint NOT NULL,
	"measured_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "keeps_data" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "data_off_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "data_volume" ADD CONSTRAINT "data_volume_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."project"("id") ON DELETE cascade ON UPDATE no action;