import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, type LookupFunction } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { createServer as createTlsServer } from "node:tls";
import { promisify } from "node:util";
import type { OAuthClientInformationMixed, OAuthDiscoveryState, OAuthTokens } from "@modelcontextprotocol/client";
import { freePort } from "@towpath/role/testing";
import { Agent, fetch as undiciFetch } from "undici";
import { until } from "./rig.ts";

// Servers with their own sign-in, as on the internet: https, their own names, a provider in its own process.

export type Certificate = { key: string; cert: string; certPath: string };

/** A self-signed certificate for `*.example.test`. */
export async function makeCertificate(directory: string): Promise<Certificate> {
  const [keyPath, certPath] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  await promisify(execFile)("openssl", [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=example.test",
    "-addext",
    "subjectAltName=DNS:*.example.test",
    "-keyout",
    keyPath,
    "-out",
    certPath,
  ]);
  return { key: await readFile(keyPath, "utf8"), cert: await readFile(certPath, "utf8"), certPath };
}

/** Ends TLS in front of a gateway, as an operator's proxy does. */
export async function startTlsFront(port: number, gatewayPort: number, { key, cert }: Certificate) {
  const server = createTlsServer({ key, cert }, (client) => {
    const upstream = connect(gatewayPort, "127.0.0.1");
    client.pipe(upstream).pipe(client);
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  return { close: () => void server.close() };
}

/** A fetch for which every name leads here and the certificate is trusted. */
export function fetchHere({ cert }: Certificate) {
  const lookup: LookupFunction = (_name, { all }, done) =>
    all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4);
  const dispatcher = new Agent({ connect: { ca: cert, lookup } });
  return (url: string | URL, init?: RequestInit): Promise<Response> =>
    undiciFetch(url, { ...(init as object), dispatcher }) as unknown as Promise<Response>;
}

/** Starts a program and waits until `isReady`. */
async function startProcess(
  [command = "", ...args]: readonly string[],
  env: Record<string, string>,
  isReady: (printed: string) => boolean,
): Promise<ChildProcess> {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
    });
  }
  await until(() => {
    if (child.exitCode !== null) throw new Error(`${command} ended:\n${printed}`);
    return isReady(printed);
  }, 150_000);
  return child;
}

/** Ends a program and its children: uv's child is the one that serves. */
export function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL");
}

/** A real OpenID provider with the client `towpath`; others register themselves. */
export async function startProvider(redirects: readonly string[]) {
  const port = await freePort();
  const script = join(import.meta.dirname, "../../../../packages/auth/src/testing/issuer.ts");
  const child = await startProcess([process.execPath, script, String(port), ...redirects], {}, (printed) =>
    printed.includes("ready"),
  );
  return { url: `http://localhost:${port}`, child };
}

const fastmcp = (script: string) => [
  "uv",
  "run",
  "--no-project",
  "--with",
  "fastmcp==4.1.2",
  "python",
  new URL(`fastmcp/${script}`, import.meta.url).pathname,
];

/** A FastMCP server that knows its public URL from its environment, and nothing else of where it runs. */
export function startOwnSignIn(
  how: "proxy" | "remote",
  { url, issuer, socket }: { url: string; issuer: string; socket: string },
): Promise<ChildProcess> {
  const env = { TOWPATH_CLOUD_URL: url, ISSUER: issuer, FASTMCP_HTTP_HOST_ORIGIN_PROTECTION: "false" };
  const home = { FASTMCP_HOME: `${socket}.home` };
  return startProcess([...fastmcp("own_sign_in.py"), how, socket], { ...env, ...home }, () => existsSync(socket));
}

/** FastMCP's client, which prints the URL in place of opening a browser. */
export function startFastMcpClient(url: string, certPath: string): ChildProcess {
  const [command = "", ...args] = [...fastmcp("sign_in.py"), url];
  const env = { ...process.env, SSL_CERT_FILE: certPath, BROWSER: "echo %s", NO_COLOR: "1" };
  return spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
}

/** The first URL with a code challenge that a program prints. */
export function printedAddress(...streams: (Readable | null)[]): Promise<string> {
  let printed = "";
  return new Promise((resolve, reject) => {
    for (const stream of streams) {
      stream?.on("data", (chunk: Buffer) => {
        printed += chunk.toString();
        const found = /https?:\/\/\S+code_challenge=\S+(?=\s)/.exec(printed)?.[0];
        if (found) resolve(found);
      });
      stream?.once("close", () => reject(new Error(`No address to sign in at was printed:\n${printed}`)));
    }
  });
}

/** The client's page to which the person returns. */
export async function openCallback() {
  const server = createHttpServer((_, response) => response.end("back at the client"));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/callback`, close: () => void server.close().closeAllConnections() };
}

/** An in-memory store for a client of the TypeScript SDK; `asked` is the URL that it would open in a browser. */
export function memoryProvider(redirectUrl: string) {
  type Kept = { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; found?: OAuthDiscoveryState };
  const kept: Kept & { verifier?: string; asked?: URL } = {};
  return {
    kept,
    redirectUrl,
    clientMetadata: { client_name: "A client", redirect_uris: [redirectUrl], token_endpoint_auth_method: "none" },
    clientInformation: () => kept.client,
    saveClientInformation: (client: OAuthClientInformationMixed) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens: OAuthTokens) => void Object.assign(kept, { tokens }),
    discoveryState: () => kept.found,
    saveDiscoveryState: (found: OAuthDiscoveryState) => void Object.assign(kept, { found }),
    redirectToAuthorization: (asked: URL) => void Object.assign(kept, { asked }),
    saveCodeVerifier: (verifier: string) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier ?? "",
  };
}
