ALTER TABLE "request_log" ALTER COLUMN "deployment_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "route" ALTER COLUMN "branch_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "route" ALTER COLUMN "deployment_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "route" ALTER COLUMN "sequence" SET DEFAULT 0;--> statement-breakpoint
ALTER TABLE "route" ADD COLUMN "target_kind" text DEFAULT 'deployment' NOT NULL;--> statement-breakpoint
ALTER TABLE "route" ADD COLUMN "external_server_id" uuid;--> statement-breakpoint
ALTER TABLE "route" ADD COLUMN "portal_id" uuid;--> statement-breakpoint
ALTER TABLE "route" ADD CONSTRAINT "route_target_check" CHECK (num_nonnulls("route"."deployment_id", "route"."external_server_id", "route"."portal_id") = 1
        AND ("route"."branch_id" IS NOT NULL) = ("route"."target_kind" = 'deployment')
        AND CASE "route"."target_kind"
          WHEN 'deployment' THEN "route"."deployment_id" IS NOT NULL
          WHEN 'external' THEN "route"."external_server_id" IS NOT NULL
          WHEN 'portal' THEN "route"."portal_id" IS NOT NULL
          ELSE false END);