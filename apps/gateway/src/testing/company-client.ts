import {
  Client,
  CrossAppAccessProvider,
  discoverAndRequestJwtAuthGrant,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;
type Credentials = { readonly id: string; readonly secret: string };

/**
 * The SDK's client, which gets in by identity assertions of a company's provider (Enterprise-Managed Authorization).
 * `atProvider` and `atServers`: its registration at each. `assertions`: those that it has got, the latest last.
 */
export async function connectByCompany(options: {
  readonly url: string;
  readonly fetch: Fetch;
  readonly provider: string;
  readonly idToken: string;
  readonly atProvider: Credentials;
  readonly atServers: Credentials;
  /** The authorization server that it expects. */
  readonly issuer: string;
  readonly assertions: string[];
}): Promise<Client> {
  const { atProvider, atServers } = options;
  const authProvider = new CrossAppAccessProvider({
    clientId: atServers.id,
    clientSecret: atServers.secret,
    expectedIssuer: options.issuer,
    fetchFn: options.fetch,
    assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
      const { jwtAuthGrant } = await discoverAndRequestJwtAuthGrant({
        idpUrl: options.provider,
        // The issuer identifier, which the SDK gives with a slash as a URL.
        audience: String(authorizationServerUrl).replace(/\/$/, ""),
        resource: resourceUrl,
        idToken: options.idToken,
        clientId: atProvider.id,
        clientSecret: atProvider.secret,
        ...(scope === undefined ? {} : { scope }),
        fetchFn,
      });
      options.assertions.push(jwtAuthGrant);
      return jwtAuthGrant;
    },
  });
  const client = new Client({ name: "company-app", version: "1.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(options.url), { authProvider, fetch: options.fetch }));
  return client;
}
