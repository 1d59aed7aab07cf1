ALTER TABLE "apikey" ADD COLUMN "created_by_user_id" uuid;--> statement-breakpoint
-- Who made a key stood in better-auth's metadata. The columns of its plugin that nothing reads any more (config_id,
-- prefix, refill_*, rate_limit_*, request_count, remaining, permissions, metadata) stay for one release, for old code.
UPDATE "apikey" SET "created_by_user_id" = "user"."id" FROM "user"
  WHERE "user"."id"::text = CASE WHEN "apikey"."metadata" LIKE '{%' THEN "apikey"."metadata"::json ->> 'createdByUserId' END;--> statement-breakpoint
ALTER TABLE "apikey" ADD CONSTRAINT "apikey_created_by_user_id_user_id_fk" FOREIGN KEY ("created_by_user_id") REFERENCES "public"."user"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "apikey_created_by_user_id_index" ON "apikey" USING btree ("created_by_user_id");