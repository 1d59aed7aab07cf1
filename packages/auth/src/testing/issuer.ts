import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { argv } from "node:process";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import Provider, { errors } from "oidc-provider";

// A real OpenID Connect issuer for tests, in its own process: `node issuer.ts [ADDRESS:]PORT REDIRECT_URI …`. Signing in as `name`
// gives the subject `name` and the email address `name@example.com`; as `name~address`, that address. Clients may
// register themselves, and an access token for a resource (RFC 8707) is a JWT with that audience and the scope `use`. A client
// exchanges its ID token for an identity assertion (RFC 8693, ID-JAG) for the `client_id` that it registered as `id_at_servers`.

const [at = "", ...redirectUris] = argv.slice(2);
const [port, address] = at.split(":").toReversed();
const origins = redirectUris.map((uri) => new URL(uri).origin);
const issuer = `http://${address ?? "localhost"}:${port}`;

const key = { kid: randomUUID(), ...(await generateKeyPair("RS256", { extractable: true })) };
const tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange";
const idJag = "urn:ietf:params:oauth:token-type:id-jag";

const provider = new Provider(issuer, {
  jwks: { keys: [{ ...(await exportJWK(key.privateKey)), kid: key.kid, alg: "RS256", use: "sig" }] },
  extraClientMetadata: { properties: ["id_at_servers"] },
  clients: [
    {
      client_id: "towpath",
      client_secret: "secret-of-the-test-client",
      redirect_uris: redirectUris,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      post_logout_redirect_uris: origins.map((origin) => `${origin}/`),
      backchannel_logout_uri: `${origins[0]}/api/auth/backchannel-logout`,
      backchannel_logout_session_required: true,
    },
  ],
  scopes: ["openid", "offline_access", "use"],
  pkce: { required: () => true },
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "given_name", "family_name"] },
  features: {
    devInteractions: { enabled: true },
    backchannelLogout: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => [],
      useGrantedResource: () => true,
      getResourceServerInfo: (_context: unknown, resource: string) => ({
        scope: "use",
        audience: resource,
        accessTokenFormat: "jwt",
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
  // Its own refuses addresses of this machine, where the client under test is.
  fetch: (url: string | URL, { method, headers, body, signal }: RequestInit) =>
    fetch(url, { method, headers, body, signal } as RequestInit),
  cookies: { keys: ["only for tests"] },
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => {
      const [, email = `${id}@example.com`] = id.split("~");
      return { sub: id, email, email_verified: true, name: "Grace Hopper", given_name: "Grace", family_name: "Hopper" };
    },
  }),
});

provider.registerGrantType(
  tokenExchange,
  async (context) => {
    const { params, client } = context.oidc;
    if (params.requested_token_type !== idJag) throw new errors.InvalidRequest("only an ID-JAG is issued");
    if (params.subject_token_type !== "urn:ietf:params:oauth:token-type:id_token")
      throw new errors.InvalidRequest("an ID token is exchanged");
    // Of this client only.
    const { payload } = await provider.IdToken.validate(String(params.subject_token), client);
    const email = `${payload.sub}@example.com`;
    const { resource, scope } = params;
    const claims = {
      email,
      email_verified: true,
      client_id: client.id_at_servers,
      resource,
      ...(scope ? { scope } : {}),
    };
    const assertion = await new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", kid: key.kid, typ: "oauth-id-jag+jwt" })
      .setIssuer(issuer)
      .setSubject(payload.sub)
      .setAudience(String(params.audience))
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime("5m")
      .sign(key.privateKey);
    context.body = { issued_token_type: idJag, access_token: assertion, token_type: "N_A", expires_in: 300 };
  },
  ["audience", "resource", "scope", "subject_token", "subject_token_type", "requested_token_type"],
);

const server = createServer(provider.callback());
server.listen(Number(port), address ?? "127.0.0.1", () => process.stdout.write("ready\n"));
process.on("SIGTERM", () => {
  server.closeAllConnections();
  server.close(() => process.exit(0));
});
