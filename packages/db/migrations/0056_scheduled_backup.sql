CREATE TABLE "scheduled_backup" (
	"id" integer PRIMARY KEY NOT NULL,
	"every_hours" integer NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"problem" text,
	"made_at" timestamp (3) with time zone,
	"name" text,
	"bytes" bigint
);
