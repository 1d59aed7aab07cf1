import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { newVisitor, type Visitor } from "./visitor.ts";

/** A real OpenID provider, as a process: see issuer.ts of the package auth. */
export async function startIssuer(port: number, redirectUri: string): Promise<{ readonly url: string; stop(): void }> {
  const script = join(import.meta.dirname, "../../../packages/auth/src/testing/issuer.ts");
  const child = spawn(process.execPath, [script, String(port), redirectUri], { env: { PATH: process.env.PATH } });
  let output = "";
  await new Promise<void>((done, fail) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      if (output.includes("ready")) done();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", () => fail(new Error(`the issuer ended:\n${output}`)));
  });
  return { url: `http://localhost:${port}`, stop: () => void child.kill("SIGTERM") };
}

/**
 * Signs in as `name` at the issuer and consents. Returns the URL that it redirects back to, which begins with `back`.
 * `browser`: of the issuer.
 */
export async function signInAtIssuer(
  authorizeUrl: string,
  { name, back, browser }: { readonly name: string; readonly back: string; readonly browser: Visitor },
): Promise<string> {
  const { origin } = new URL(authorizeUrl);
  let next = authorizeUrl;
  for (let step = 0; step < 12; step++) {
    if (next.startsWith(back)) return next;
    const response = await browser.get(next);
    const redirect = response.headers.get("location");
    if (redirect) {
      next = new URL(redirect, origin).href;
      continue;
    }
    const html = await response.text();
    const prompt = /name="prompt" value="(\w+)"/.exec(html)?.[1] ?? "";
    const action = /action="([^"]+)"/.exec(html)?.[1] ?? "";
    const answer = await browser.submit(action, {
      prompt,
      ...(prompt === "login" ? { login: name, password: "any" } : {}),
    });
    next = new URL(answer.headers.get("location") ?? "", origin).href;
  }
  throw new Error(`the issuer did not send the browser back: ${next}`);
}

type App = { readonly id: string; readonly secret: string };

/** Registers a company's MCP client at the issuer, which names it `idAtServers` in assertions. `back`: its return address. */
export async function registerCompanyApp(
  issuer: string,
  { back, idAtServers }: { readonly back: string; readonly idAtServers: string },
): Promise<App> {
  const app = {
    redirect_uris: [back],
    grant_types: ["authorization_code", "urn:ietf:params:oauth:grant-type:token-exchange"],
    token_endpoint_auth_method: "client_secret_post",
    id_at_servers: idAtServers,
  };
  const sent = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(app) };
  const { client_id: id, client_secret: secret } = await (await fetch(`${issuer}/reg`, sent)).json();
  return { id, secret };
}

/** The ID token of a person who signs in to the app. */
export async function idTokenOf(
  issuer: string,
  { app, back, name }: { readonly app: App; readonly back: string; readonly name: string },
): Promise<string> {
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    client_id: app.id,
    redirect_uri: back,
    response_type: "code",
    scope: "openid",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const browser = newVisitor(issuer);
  const returned = await signInAtIssuer(`${issuer}/auth?${query}`, { name, back, browser });
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code: new URL(returned).searchParams.get("code") ?? "",
    redirect_uri: back,
    code_verifier: verifier,
    client_id: app.id,
    client_secret: app.secret,
  });
  return (await (await fetch(`${issuer}/token`, { method: "POST", body })).json()).id_token;
}
