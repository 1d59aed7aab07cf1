import { organization } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { services } from "~/compose.server.ts";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";

/** The caller over REST. */
export const callerOperation: Operation = operation("GET /caller", "readCaller", "organization.read", {
  summary: "who calls: the operator, or an API key and its organization; and how addresses of servers are formed",
  answer: answers.caller,
  handle: async ({ ctx }) => {
    const { actor } = ctx;
    const serverUrl = services().config.serverUrlTemplate;
    if (actor.kind !== "apiKey") return { kind: "operator" as const, organization: null, serverUrl };
    const [own] = await ctx.db
      .select({ slug: organization.slug, name: organization.name })
      .from(organization)
      .where(eq(organization.id, actor.organizationId));
    const kind = actor.userId === null ? ("organization" as const) : ("personal" as const);
    return { kind, organization: own ?? null, serverUrl };
  },
});
