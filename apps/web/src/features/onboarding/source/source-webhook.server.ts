import { receiveSourceWebhook } from "@towpath/core/sources/source";
import { services } from "~/compose.server.ts";
import { readBody } from "~/http/request.server.ts";

/** The most that a Git host sends: as GitHub's. */
const maxBytes = 25 * 1024 * 1024;

/** POST /api/sources/{projectId}/webhook (SRC-2): a Git host reports a push. Signed; the content is not used. */
export async function receiveGitWebhook(request: Request, projectId: string): Promise<Response> {
  const rawBody = await readBody(request, maxBytes);
  const ctx = services().contextFor({ kind: "job", job: "webhook.receive" });
  await receiveSourceWebhook({ ctx, input: { projectId, headers: request.headers, rawBody } });
  return new Response(null, { status: 202 });
}
