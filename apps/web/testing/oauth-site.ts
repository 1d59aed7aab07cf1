import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { clientAddressHeader } from "@towpath/auth";
import { approveAuthorization, denyAuthorization, getConsent } from "@towpath/core/calling/oauth";
import type { FullContext } from "@towpath/core/context";
import { closeServices, services } from "~/compose.server.ts";
import {
  authorizeResponse,
  registerResponse,
  revokeResponse,
  tokenResponse,
} from "~/features/account/oauth/endpoints.server.ts";
import { metadataResponse } from "~/features/account/oauth/metadata.server.ts";

/** Names the network that a test's client is in, as a proxy would. */
export const networkHeader = "x-test-network";

/**
 * The authorization server's endpoints in this process, over HTTP, so that tests move its clock. Consent and sign-in are
 * those of the product without their pages: `POST /consent` and `POST /sign-up`.
 */
export type OAuthSite = {
  readonly url: string;
  /** Composes the process's services; the environment must have their settings. */
  readonly open: () => void;
  readonly close: () => Promise<void>;
};

export async function startOAuthSite(): Promise<OAuthSite> {
  let url = "";
  const server = createServer((request, response) => {
    void answer(url, request)
      .catch((error: unknown) => Response.json({ error: String(error) }, { status: 500 }))
      .then((answered) => send(response, answered));
  });
  // Never, as a client may send its next request while an idle connection is closed.
  server.keepAliveTimeout = 0;
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    open: () => void services(),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await closeServices();
    },
  };
}

async function answer(origin: string, incoming: IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) if (typeof value === "string") headers.set(name, value);
  headers.set(clientAddressHeader, headers.get(networkHeader) ?? "127.0.0.1");
  const method = incoming.method ?? "GET";
  const body = method === "POST" ? Buffer.concat(chunks) : null;
  const request = new Request(new URL(incoming.url ?? "/", origin), { method, headers, body });
  switch (new URL(request.url).pathname) {
    case "/.well-known/oauth-authorization-server":
      return metadataResponse("oauth", request);
    case "/oauth/register":
      return registerResponse(request);
    case "/oauth/token":
      return tokenResponse(request);
    case "/oauth/revoke":
      return revokeResponse(request);
    case "/oauth/authorize":
      return authorize(request);
    case "/consent":
      return consent(request);
    case "/sign-up":
      return signUp(request);
    default:
      return new Response(null, { status: 404 });
  }
}

async function authorize(request: Request): Promise<Response> {
  try {
    const answered = await authorizeResponse(request);
    return answered instanceof Response ? answered : Response.json(answered, { status: 400 });
  } catch (error) {
    return Response.json({ reason: error instanceof Error ? error.message : "" }, { status: 400 });
  }
}

/** What the consent page does: `answer` is `see`, `allow`, `remember` or `deny`. */
async function consent(request: Request): Promise<Response> {
  const signedIn = await services().auth.session(request.headers);
  if (!signedIn) return new Response(null, { status: 401 });
  const ipAddress = request.headers.get(clientAddressHeader);
  const ctx: FullContext = services().contextFor({ kind: "user", userId: signedIn.user.id, ipAddress });
  const form = new URLSearchParams(await request.text());
  const input = { request: form.get("request") ?? "", issuer: services().config.baseUrl };
  const chosen = form.get("answer");
  if (chosen === "see") return Response.json(await getConsent({ ctx, input }));
  if (chosen === "deny") return Response.json(await denyAuthorization({ ctx, input }));
  return Response.json(await approveAuthorization({ ctx, input: { ...input, remembers: chosen === "remember" } }));
}

async function signUp(request: Request): Promise<Response> {
  const form = new URLSearchParams(await request.text());
  const input = { firstName: "Ada", lastName: "L", email: form.get("email") ?? "", password: "correct horse battery" };
  const { auth } = services();
  const result = await auth.signUp(input, request.headers);
  if (!result.ok) return Response.json(result, { status: 400 });
  return new Response(null, { status: 200, headers: result.headers });
}

async function send(response: ServerResponse, answered: Response): Promise<void> {
  response.statusCode = answered.status;
  for (const [name, value] of answered.headers) if (name !== "set-cookie") response.setHeader(name, value);
  const cookies = answered.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader("set-cookie", cookies);
  response.end(Buffer.from(await answered.arrayBuffer()));
}
