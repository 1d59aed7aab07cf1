CREATE TABLE "recorded_answers" (
	"build_id" uuid PRIMARY KEY NOT NULL,
	"answers" text NOT NULL,
	"bytes" integer NOT NULL,
	"varies_by" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "project" ADD COLUMN "sleeping_lists" text DEFAULT 'off' NOT NULL;--> statement-breakpoint
ALTER TABLE "recorded_answers" ADD CONSTRAINT "recorded_answers_build_id_build_id_fk" FOREIGN KEY ("build_id") REFERENCES "public"."build"("id") ON DELETE cascade ON UPDATE no action;