import { receiveWebhook } from "@towpath/core/webhook";
import { verifyWebhook } from "@towpath/github";
import { services } from "~/compose.server.ts";
import { parseJsonObject, readBody } from "~/http/request.server.ts";

/** GitHub sends at most 25 MB. */
const maxBytes = 25 * 1024 * 1024;

/** Events that change something here. Others are acknowledged and not kept. */
const events = new Set(["push", "delete", "pull_request", "installation", "installation_repositories"]);

/**
 * POST /api/github/webhooks (BLD-12): the signature is checked on the bytes as they came, before anything is parsed or
 * stored; then the delivery is stored and its job enqueued in one transaction, and the answer is given at once.
 */
export async function receiveGitHubWebhook(request: Request): Promise<Response> {
  const { config, contextFor } = services();
  const body = await readBody(request, maxBytes);
  const signature = request.headers.get("x-hub-signature-256");
  if (!config.gitHub || !verifyWebhook(config.gitHub.webhookSecret, body, signature)) {
    return Response.json(
      { error: { code: "unauthenticated", message: "The signature is wrong.", fields: {} } },
      { status: 401 },
    );
  }
  const event = request.headers.get("x-github-event") ?? "";
  if (!events.has(event)) return new Response(null, { status: 204 });
  const deliveryId = request.headers.get("x-github-delivery") ?? "";
  const ctx = contextFor({ kind: "job", job: "webhook.receive" });
  const { duplicate } = await receiveWebhook({ ctx, input: { deliveryId, event, payload: parseJsonObject(body) } });
  return Response.json({ duplicate }, { status: 202 });
}
