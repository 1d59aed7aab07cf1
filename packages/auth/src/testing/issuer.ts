import { createServer } from "node:http";
import { argv } from "node:process";
import Provider from "oidc-provider";

// A real OpenID Connect issuer for tests, in its own process: `node issuer.ts [ADDRESS:]PORT REDIRECT_URI …`. Signing in as `name`
// gives the subject `name` and the email address `name@example.com`; as `name~address`, that address. Clients may
// register themselves, and an access token for a resource (RFC 8707) is a JWT with that audience and the scope `use`.

const [at = "", ...redirectUris] = argv.slice(2);
const [port, address] = at.split(":").toReversed();
const origins = redirectUris.map((uri) => new URL(uri).origin);
const issuer = `http://${address ?? "localhost"}:${port}`;

const provider = new Provider(issuer, {
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

const server = createServer(provider.callback());
server.listen(Number(port), address ?? "127.0.0.1", () => process.stdout.write("ready\n"));
process.on("SIGTERM", () => {
  server.closeAllConnections();
  server.close(() => process.exit(0));
});
