import { randomUUID } from "node:crypto";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

type Algorithm = "RS256" | "ES256";

/** What a test changes of a token that is right. Null leaves a claim or a member of the header out. */
type TokenChange = {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
};

/** Certificate and key (PEM) of the issuer's host. */
type Tls = { readonly cert: string; readonly key: string };

/**
 * An issuer of tokens on this machine, with discovery document and key set as a Kubernetes API server has them: its tokens
 * are like those that a kubelet projects. `requires`: a token without which it says nothing. It can rotate its keys, fail, and counts the requests for them.
 */
export async function startTokenIssuer(options: { algorithm?: Algorithm; tls?: Tls; requires?: string } = {}) {
  const { algorithm = "RS256", tls, requires } = options;
  const makeKey = async () => ({ kid: randomUUID(), ...(await generateKeyPair(algorithm, { extractable: true })) });
  let key = await makeKey();
  const state = { keyRequests: 0, fails: false, calledItself: null as string | null };
  const answer: RequestListener = async (request, response) => {
    if (state.fails) return void response.writeHead(503).end();
    if (requires !== undefined && request.headers.authorization !== `Bearer ${requires}`)
      return void response.writeHead(401).end();
    const json = (body: unknown) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.url === "/.well-known/openid-configuration")
      return void json({ issuer: state.calledItself ?? url, jwks_uri: `${url}/openid/v1/jwks` });
    if (request.url !== "/openid/v1/jwks") return void response.writeHead(404).end();
    // As that API server does.
    if (!request.headers.accept?.includes("application/jwk-set+json")) return void response.writeHead(406).end();
    state.keyRequests++;
    json(await keySet());
  };
  const server = tls ? createHttpsServer(tls, answer) : createHttpServer(answer);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  // A test that forgets it ends.
  server.unref();
  const { port } = server.address() as AddressInfo;
  const url = tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  const keySet = async () => ({
    keys: [{ ...(await exportJWK(key.publicKey)), kid: key.kid, alg: algorithm, use: "sig" }],
  });

  return {
    url,
    state,
    keySet,
    rotate: async () => {
      key = await makeKey();
    },
    /** A token of a service account for one audience, valid for ten minutes. */
    token(
      audience: string,
      subject = "system:serviceaccount:agents:planner",
      change: TokenChange = {},
    ): Promise<string> {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: url, sub: subject, aud: [audience], iat: now, nbf: now, exp: now + 600, jti: randomUUID() };
      const header = { alg: algorithm, kid: key.kid, ...change.header };
      return new SignJWT(without({ ...claims, ...change.claims }) as JWTPayload)
        .setProtectedHeader(without(header) as { alg: string })
        .sign(key.privateKey);
    },
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

export type TokenIssuer = Awaited<ReturnType<typeof startTokenIssuer>>;

const without = (members: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));

/** Input for a workload identity whose issuer's keys need not be asked for. */
export async function pastedIssuer() {
  const { publicKey } = await generateKeyPair("ES256", { extractable: true });
  const keySet = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "one" }] });
  return { name: "Agents", issuer: "https://issuer.invalid", subjects: ["system:serviceaccount:agents:*"], keySet };
}
