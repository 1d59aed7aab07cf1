import { environmentConnection } from "@towpath/core/sources/github-connection/numbers";
import { receiveWebhook } from "@towpath/core/sources/webhook";
import { neededEvents } from "@towpath/github";
import { gitHub, services } from "~/compose.server.ts";
import { parseJsonObject, readBody } from "~/http/request.server.ts";

/** The most that GitHub sends. */
const maxBytes = 25 * 1024 * 1024;

/** Events that Towpath acts on. Others are acknowledged and dropped. */
const events = new Set([...neededEvents, "installation", "installation_repositories"]);

/**
 * POST /api/github/webhooks (BLD-12) for the environment's App, and below it, by id, for connected ones (GH-5). Checks
 * the signature of the raw bytes before anything is parsed or stored, then stores the delivery and enqueues its job in
 * one transaction.
 */
export async function receiveGitHubWebhook(request: Request, connectionId: string | null): Promise<Response> {
  const { contextFor } = services();
  const connection = await gitHub().find(connectionId ?? environmentConnection);
  const body = await readBody(request, maxBytes);
  const signature = request.headers.get("x-hub-signature-256");
  if (!connection?.signed(body, signature)) {
    return Response.json(
      { error: { code: "unauthenticated", message: "The signature is wrong.", fields: {} } },
      { status: 401 },
    );
  }
  const event = request.headers.get("x-github-event") ?? "";
  if (!events.has(event)) return new Response(null, { status: 204 });
  const deliveryId = request.headers.get("x-github-delivery") ?? "";
  const ctx = contextFor({ kind: "job", job: "webhook.receive" });
  const { duplicate } = await receiveWebhook({
    ctx,
    input: { deliveryId, connection: connection.number, event, payload: parseJsonObject(body) },
  });
  return Response.json({ duplicate }, { status: 202 });
}
