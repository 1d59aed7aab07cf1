import { z } from "zod";
import { OAuthError } from "./oauth-error.ts";
import { isAllowedRedirectUri, redirectHost } from "./redirect-uri.ts";

const maxRedirectUris = 20;

/** How clients may authenticate at the token endpoint. */
const authMethods = ["none", "client_secret_post", "client_secret_basic"] as const;
const usualGrantTypes = ["authorization_code", "refresh_token"] as const;
/** With an identity assertion (RFC 7523, section 2.1). */
const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const grantTypes = [...usualGrantTypes, jwtBearer] as const;

/** What a client says of itself (RFC 7591, section 2). Other fields are ignored. */
const metadataSchema = z.object({
  redirect_uris: z
    .array(z.string(), { error: "redirect_uris must be a list of URLs." })
    .max(maxRedirectUris, `redirect_uris may name at most ${maxRedirectUris} URLs.`)
    .nullish(),
  client_name: z.string({ error: "client_name must be a text." }).nullish(),
  client_uri: z.string({ error: "client_uri must be a URL." }).nullish(),
  software_version: z.string({ error: "software_version must be a text." }).nullish(),
  token_endpoint_auth_method: z.string({ error: "token_endpoint_auth_method must be a text." }).nullish(),
  grant_types: z.array(z.string(), { error: "grant_types must be a list." }).nullish(),
  response_types: z.array(z.string(), { error: "response_types must be a list." }).nullish(),
});

export type ClientMetadata = {
  readonly name: string;
  readonly uri: string | null;
  readonly softwareVersion: string | null;
  readonly redirectUris: string[];
  readonly tokenEndpointAuthMethod: (typeof authMethods)[number];
  readonly grantTypes: (typeof grantTypes)[number][];
};

/**
 * Reads what a client sent or published. Unknown grant types (VS Code names the device code), scopes and fields are
 * ignored, and any mix of redirect URIs is accepted (Cursor registers three kinds at once), because clients register
 * once for all servers that they know. `defaultAuthMethod`: for a client that names none.
 *
 * @throws OAuthError `invalid_redirect_uri`, `invalid_client_metadata`
 */
export function parseClientMetadata(
  given: unknown,
  defaultAuthMethod: ClientMetadata["tokenEndpointAuthMethod"],
): ClientMetadata {
  const parsed = metadataSchema.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const code = issue?.path[0] === "redirect_uris" ? "invalid_redirect_uri" : "invalid_client_metadata";
    const problem = code === "invalid_redirect_uri" ? "redirect_not_allowed" : "metadata_invalid";
    const text = issue?.path.length ? issue.message : "The client's metadata must be a JSON object.";
    throw new OAuthError(code, text, { problem });
  }
  const { data } = parsed;
  const redirectUris = data.redirect_uris ?? [];
  const named: readonly string[] = data.grant_types ?? usualGrantTypes;
  const supported = grantTypes.filter((type) => named.includes(type));
  const usesCodes = supported.includes("authorization_code");
  if (!usesCodes && !supported.includes(jwtBearer)) {
    throw invalidMetadata(`grant_types must contain "authorization_code" or "${jwtBearer}".`);
  }
  if (usesCodes && redirectUris.length === 0) {
    const problem = "redirect_not_allowed";
    throw new OAuthError("invalid_redirect_uri", "redirect_uris must name at least one URL.", { problem });
  }
  for (const uri of redirectUris) {
    if (isAllowedRedirectUri(uri)) continue;
    throw new OAuthError(
      "invalid_redirect_uri",
      `The redirect URI ${JSON.stringify(uri.slice(0, 200))} is not allowed. Use https, http on localhost, or the app's own scheme, without a fragment.`,
      { problem: "redirect_not_allowed" },
    );
  }
  if (usesCodes && data.response_types && !data.response_types.includes("code")) {
    throw invalidMetadata('The only supported response type is "code".');
  }
  const method = data.token_endpoint_auth_method ?? defaultAuthMethod;
  const known = authMethods.find((each) => each === method);
  if (!known) {
    throw invalidMetadata(
      `token_endpoint_auth_method ${JSON.stringify(method.slice(0, 50))} is not supported. Use one of ${authMethods.join(", ")}.`,
    );
  }
  const [firstUri] = redirectUris;
  return {
    name: plainText(data.client_name, 80) || (firstUri === undefined ? "Client" : redirectHost(firstUri)),
    uri: webPage(data.client_uri),
    softwareVersion: plainText(data.software_version, 40) || null,
    redirectUris: [...new Set(redirectUris)],
    tokenEndpointAuthMethod: known,
    grantTypes: supported,
  };
}

export const invalidMetadata = (description: string): OAuthError =>
  new OAuthError("invalid_client_metadata", description, { problem: "metadata_invalid" });

/** Without control characters, and without invisible ones that change how the text around it reads. */
function plainText(value: string | null | undefined, max: number): string {
  const visible = (value ?? "").replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ").replace(/\s+/g, " ");
  return [...visible.trim()].slice(0, max).join("").trim();
}

function webPage(value: string | null | undefined): string | null {
  const url = value && value.length <= 500 && URL.canParse(value) ? new URL(value) : null;
  return url?.protocol === "https:" ? url.href : null;
}
