import { createFileRoute } from "@tanstack/react-router";
import { z } from "zod";
import { createResetLink } from "~/features/sign-in/password-reset.server.ts";
import { withoutPermission } from "~/http/access.ts";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";

const resetSchema = z.object({ email: z.string().min(1).max(254), removeSecondFactor: z.boolean().default(false) });

/** A link with which a person sets a new password, for operators: `./towpath reset-password` (AUTH-2). */
export const Route = createFileRoute("/api/v1/password-resets")({
  server: {
    handlers: {
      POST: withoutPermission("operator", ({ request }) =>
        operatorRoute(request, async (ctx) => createResetLink(ctx, await jsonBody(request, resetSchema))),
      ),
    },
  },
});
