import { hostOf, type Place, type ServerAddress } from "../route/server-address.ts";

/** The scope for calling a server. Access tokens without it get 403. */
export const callScope = "mcp";

/** A server as OAuth sees it. */
export type ProtectedResource = {
  /** The URL that people paste: the audience of tokens (RFC 8707). */
  url: string;
  /** Where its metadata is (RFC 9728 §3.1). */
  metadataUrl: string;
};

/**
 * The resource at a place: each address of a server is one of its own (RFC 9728 §3.3). Depends on the label alone, so it
 * doesn't reveal which servers exist.
 */
export function resourceOf(address: ServerAddress, place: Place): ProtectedResource {
  const { form, host } = hostOf(address, place);
  const origin = `${address.protocol}://${host}${address.port}`;
  const path = form === "host" ? "/mcp" : `/${place.label}/mcp`;
  return { url: `${origin}${path}`, metadataUrl: `${origin}/.well-known/oauth-protected-resource${path}` };
}

/** Protected-resource metadata (RFC 9728 §2). */
export function resourceMetadata({ url }: ProtectedResource, issuer: string) {
  return {
    resource: url,
    authorization_servers: [issuer],
    scopes_supported: [callScope],
    bearer_methods_supported: ["header"],
  };
}

type ChallengeError = { code: "invalid_request" | "invalid_token" | "insufficient_scope"; description: string };

/** The value of `WWW-Authenticate`, which says how to sign in (RFC 6750 §3, RFC 9728 §5.1). */
export function challengeFor({ metadataUrl }: ProtectedResource, error: ChallengeError | null): string {
  const parts = ['Bearer realm="towpath"'];
  if (error) {
    const description = error.description.replaceAll(/["\\`]/g, "'").replaceAll(/[^ -~]/g, "?");
    parts.push(`error="${error.code}"`, `error_description="${description}"`);
  }
  parts.push(`resource_metadata="${metadataUrl}"`, `scope="${callScope}"`);
  return parts.join(", ");
}
