CREATE TABLE "host_storage" (
	"host" text PRIMARY KEY NOT NULL,
	"report" jsonb NOT NULL,
	"reported_at" timestamp (3) with time zone NOT NULL
);
