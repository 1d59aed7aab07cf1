import type { IncomingHttpHeaders } from "node:http";
import { LRUCache } from "lru-cache";
import { Agent, request } from "undici";
import { z } from "zod";
import { GatewayError } from "../gateway-error.ts";

/** The members of authorization server metadata (RFC 8414 §2) that are read; the rest passes unchanged. */
const metadataSchema = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: z.url({ protocol: /^https?$/ }),
  token_endpoint: z.url({ protocol: /^https?$/ }),
  registration_endpoint: z.url({ protocol: /^https?$/ }),
});
type AuthorizationServerMetadata = z.infer<typeof metadataSchema>;

type Answer = { status: number; headers: string[]; body: Buffer };

/**
 * The instance's authorization server, which is the web process. Clients of 2025-03-26 expect it at the MCP server's
 * origin and do not follow redirects with a code or a secret in their body to another origin, so those are forwarded.
 */
export type AuthorizationServer = {
  readonly issuer: string;
  /** @throws GatewayError 503 when it was never read and the authorization server does not answer */
  metadata: () => Promise<AuthorizationServerMetadata>;
  /** Sends a request's body to one of its endpoints. @throws GatewayError 503 */
  post: (
    endpoint: "token_endpoint" | "registration_endpoint",
    sent: { headers: IncomingHttpHeaders; body: Buffer; forwarded: readonly string[] },
  ) => Promise<Answer>;
  close: () => Promise<void>;
};

const freshMs = 60_000;
const timeoutMs = 10_000;
const maxAnswerBytes = 256 * 1024;
const passedOn = ["content-type", "accept", "authorization", "user-agent", "origin"];
const passedBack = ["content-type", "cache-control", "pragma", "retry-after", "www-authenticate"];

export function createAuthorizationServer(issuer: string): AuthorizationServer {
  const agent = new Agent({ connections: 16, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  const read = async () => {
    const url = `${issuer}/.well-known/oauth-authorization-server`;
    const answer = await request(url, { dispatcher: agent, headers: { accept: "application/json" } });
    const body = await bodyOf(answer.body);
    if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`);
    return metadataSchema.parse(JSON.parse(body.toString("utf8")));
  };
  const known = new LRUCache<string, AuthorizationServerMetadata>({
    max: 1,
    ttl: freshMs,
    fetchMethod: read,
    // Its last answer still holds: clients get its own error when they go there.
    allowStaleOnFetchRejection: true,
    noDeleteOnFetchRejection: true,
  });
  const metadata = () => known.forceFetch(issuer).catch(unavailable);

  return {
    issuer,
    metadata,
    async post(endpoint, { headers, body, forwarded }) {
      const { [endpoint]: url } = await metadata();
      const sent: string[] = [...forwarded];
      for (const name of passedOn) {
        const value = headers[name];
        if (typeof value === "string") sent.push(name, value);
      }
      try {
        const answer = await request(url, { dispatcher: agent, method: "POST", headers: sent, body });
        const back = passedBack.flatMap((name) => {
          const value = answer.headers[name];
          return typeof value === "string" ? [name, value] : [];
        });
        return { status: answer.statusCode, headers: back, body: await bodyOf(answer.body) };
      } catch {
        return unavailable();
      }
    },
    close: () => agent.destroy(),
  };
}

async function bodyOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxAnswerBytes) throw new Error("the authorization server's answer is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function unavailable(): never {
  throw new GatewayError(
    "sign_in_unavailable",
    "Sign-in is not available at the moment. Try again shortly; tokens that were issued before still work.",
    { "retry-after": "5" },
  );
}
