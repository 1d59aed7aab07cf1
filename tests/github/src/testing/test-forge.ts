import { execFile } from "node:child_process";
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createForgeAdmin, createGitHub, type ForgeAdmin, type GitHub, type GitHubConfig } from "@towpath/github";
import { freePort } from "@towpath/role/testing";
import { SignJWT } from "jose";
import pino from "pino";
import type { ForgeConfig } from "../config.ts";
import { type RunningForge, startForge } from "../forge.ts";

export const testSecret = "a webhook secret for tests";
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
export const testPrivateKey = privateKey.export({ type: "pkcs1", format: "pem" }).toString();

export type Received = {
  readonly event: string;
  readonly delivery: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

/** A real HTTP server that stands in for the platform's webhook route. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** Statuses of the next responses; 202 when the list is empty. */
  readonly answers: number[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const header = (name: string) => String(request.headers[name] ?? "");
        const body = Buffer.concat(chunks);
        this.received.push({
          event: header("x-github-event"),
          delivery: header("x-github-delivery"),
          headers: request.headers,
          body,
        });
        response.writeHead(this.answers.shift() ?? 202).end();
      });
    });
  }

  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The first matching delivery, as soon as it arrives. */
  async waitFor(fits: (received: Received, payload: Record<string, unknown>) => boolean): Promise<Received> {
    for (let waited = 0; waited < 10_000; waited += 20) {
      const found = this.received.find((received) => fits(received, JSON.parse(received.body.toString("utf8"))));
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`no such webhook; got ${this.received.map(({ event }) => event).join(", ")}`);
  }
}

export type TestForge = {
  readonly url: string;
  readonly config: ForgeConfig;
  readonly gitHubConfig: GitHubConfig;
  readonly gitHub: GitHub;
  readonly admin: ForgeAdmin;
  readonly hooks: WebhookReceiver;
  readonly directory: string;
  /** Stops the forge and starts it again on the same state. */
  restart(): Promise<void>;
  /** Stops it; `restart` starts it again. */
  stop(): Promise<void>;
  close(): Promise<void>;
};

/** A forge on a free port with its own directory, or this one, and a receiver for its webhooks. */
export async function startTestForge(given?: string): Promise<TestForge> {
  const directory = given ?? (await mkdtemp(join(tmpdir(), "towpath-forge-")));
  const hooks = new WebhookReceiver();
  const hookPort = await hooks.listen();
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const app = {
    id: "4242",
    slug: "towpath-test",
    privateKey: testPrivateKey,
    clientId: "Iv1.test",
    clientSecret: "a client secret for tests",
    webhookSecret: testSecret,
  };
  const config: ForgeConfig = {
    dataDirectory: directory,
    logLevel: "silent",
    host: "127.0.0.1",
    port,
    url,
    webhookUrl: `http://127.0.0.1:${hookPort}/api/github/webhooks`,
    callbackUrl: "http://localhost:3000/api/github/callback",
    setupUrl: "http://localhost:3000/api/github/setup",
    app,
  };
  const { id: appId, slug: appSlug, ...credentials } = app;
  const gitHubConfig = { appId, appSlug, ...credentials, url, apiUrl: `${url}/api/v3` };
  const log = pino({ level: "silent" });
  let running: RunningForge | null = await startForge(config, log);
  const stop = async () => {
    await running?.stop();
    running = null;
  };
  return {
    url,
    config,
    gitHubConfig,
    gitHub: createGitHub(gitHubConfig),
    admin: createForgeAdmin({ url, clientSecret: app.clientSecret }),
    hooks,
    directory,
    stop,
    async restart() {
      await stop();
      running = await startForge(config, log);
    },
    async close() {
      await stop();
      await hooks.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const run = promisify(execFile);

function runGit(directory: string, args: readonly string[], more: Record<string, string> = {}) {
  const env = {
    PATH: process.env.PATH,
    HOME: directory,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_AUTHOR_NAME: "Ada Lock",
    GIT_AUTHOR_EMAIL: "ada@example.com",
    GIT_COMMITTER_NAME: "Ada Lock",
    GIT_COMMITTER_EMAIL: "ada@example.com",
    ...more,
  };
  return run("git", args, { cwd: directory, env, maxBuffer: 64 * 1024 * 1024 });
}

/** Runs real git with settings of its own. Throws with git's output if it fails. */
export async function git(directory: string, ...args: string[]): Promise<string> {
  return (await runGit(directory, args)).stdout;
}

/** The same; returns the HTTP headers that git sent. */
export async function gitHeaders(directory: string, ...args: string[]): Promise<string> {
  const { stderr } = await runGit(directory, args, { GIT_TRACE_CURL: "1", GIT_TRACE_CURL_NO_DATA: "1" });
  const lines = stderr.split("\n").filter((line) => line.includes("=> Send header: "));
  return lines
    .map((line) => line.replace(/^.*=> Send header: /, ""))
    .join("\n")
    .toLowerCase();
}

/** A minimal browser: keeps cookies, sends Origin with forms, follows no redirects. */
export class Browser {
  readonly #url: string;
  #cookies = new Map<string, string>();

  constructor(url: string) {
    this.#url = url;
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...init.headers, ...(cookie && { cookie }) };
    const response = await fetch(new URL(path, this.#url), { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      const equals = pair.indexOf("=");
      this.#cookies.set(pair.slice(0, equals), pair.slice(equals + 1));
    }
    return response;
  }

  get(path: string): Promise<Response> {
    return this.#send(path, { method: "GET" });
  }

  submit(path: string, fields: Record<string, string> | [string, string][], origin = this.#url): Promise<Response> {
    return this.#send(path, { method: "POST", body: new URLSearchParams(fields), headers: { origin } });
  }
}

/** A redirect's target. */
export function locationOf(response: Response): URL {
  return new URL(response.headers.get("location") ?? "", response.url);
}

/** An App user token, obtained through sign-in and the authorization page as by a person. */
export async function userToken(forge: TestForge, login: string): Promise<string> {
  const browser = new Browser(forge.url);
  await browser.submit("/login", { existing: login });
  await browser.get(forge.gitHub.userAuthorizeUrl({ state: "s" }));
  const done = await browser.submit("/login/oauth/authorize", {
    client_id: "Iv1.test",
    state: "s",
    decision: "authorize",
  });
  const code = locationOf(done).searchParams.get("code") ?? "";
  return (await forge.gitHub.exchangeCode({ code })).accessToken;
}

/** The App's JSON web token, for tests that call the REST API without the client. */
export function createAppJwt(input: { issuer?: string; lifetime?: number } = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const key = createPrivateKey(testPrivateKey);
  const jwt = new SignJWT({}).setProtectedHeader({ alg: "RS256" }).setIssuer(input.issuer ?? "4242");
  return jwt
    .setIssuedAt(now)
    .setExpirationTime(now + (input.lifetime ?? 300))
    .sign(key);
}
