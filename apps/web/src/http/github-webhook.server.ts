import { receiveWebhook } from "@towpath/core/webhook";
import { verifyWebhook } from "@towpath/github";
import { services } from "~/compose.server.ts";
import { parseJsonObject, readBody } from "~/http/request.server.ts";

/** The most that GitHub sends. */
const maxBytes = 25 * 1024 * 1024;

/** Events that Towpath acts on. Others are acknowledged and dropped. */
const events = new Set(["push", "delete", "pull_request", "installation", "installation_repositories"]);

/**
 * POST /api/github/webhooks (BLD-12). Checks the signature on the raw bytes before anything is parsed or stored, then
 * stores the delivery and enqueues its job in one transaction.
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
