import { clientAddressHeader } from "@towpath/auth";
import { serverScope } from "@towpath/core/calling/oauth/schema";
import { hasSignInIssuers } from "@towpath/core/tenancy/sign-in-issuer";
import { services } from "~/compose.server.ts";

/** Browsers of other sites may read these: they contain no cookies and nothing about a user. */
export const anyOrigin = { "access-control-allow-origin": "*" };

/** The grant with an identity assertion (RFC 7523, section 2.1). */
export const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/** Its profile: an ID-JAG (draft-ietf-oauth-identity-assertion-authz-grant). */
const idJagProfile = "urn:ietf:params:oauth:grant-profile:id-jag";

/**
 * The authorization server's metadata (RFC 8414, section 2). Clients use metadata documents only with
 * `client_id_metadata_document_supported` and the method `none`. The form of OpenID Connect (Discovery 1.0, section 3)
 * has two more required fields; no ID tokens are issued.
 */
export async function metadataResponse(form: "oauth" | "openid", request: Request): Promise<Response> {
  const { config, signIns, contextFor } = services();
  const issuer = config.baseUrl;
  const agent = request.headers.get("user-agent");
  // Gateways read it, too, without an agent.
  if (agent !== null) {
    const address = request.headers.get(clientAddressHeader);
    signIns.record({ kind: "server_metadata", problem: null, projectId: null, isProven: false, address, agent });
  }
  // Nothing about which organization: anybody reads this. Sign-ins by a page go on without the database, too.
  const ctx = contextFor({ kind: "job", job: "oauth" });
  const takesAssertions = await hasSignInIssuers({ ctx }).catch(() => false);
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: [serverScope],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token", ...(takesAssertions ? [jwtBearer] : [])],
    ...(takesAssertions ? { authorization_grant_profiles_supported: [idJagProfile] } : {}),
    token_endpoint_auth_methods_supported: ["none", "client_secret_post", "client_secret_basic"],
    revocation_endpoint_auth_methods_supported: ["none", "client_secret_post", "client_secret_basic"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    ...(form === "openid"
      ? { subject_types_supported: ["public"], id_token_signing_alg_values_supported: ["ES256"] }
      : {}),
  };
  return Response.json(metadata, { headers: { ...anyOrigin, "cache-control": "public, max-age=300" } });
}
