import { execFile } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { createGitHub, type GitHub } from "@towpath/github";
import { freePort } from "@towpath/role/testing";
import { SignJWT } from "jose";
import { type GitHubStandIn, gitHubSettings, startGitHub } from "../stand-in.ts";

export type Received = {
  readonly event: string;
  readonly delivery: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

/** A real HTTP server that stands in for the platform's webhook route. */
class WebhookReceiver {
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

export type TestForge = GitHubStandIn & {
  readonly gitHub: GitHub;
  readonly hooks: WebhookReceiver;
  /** The receiver's address, which is a new stand-in's default. */
  readonly webhookUrl: string;
};

/** The stand-in on a free port with a receiver for its webhooks, and the product's client of it. */
export async function startTestForge(): Promise<TestForge> {
  const hooks = new WebhookReceiver();
  const webhookUrl = `http://127.0.0.1:${await hooks.listen()}/api/github/webhooks`;
  const settings = gitHubSettings(`http://localhost:${await freePort()}`);
  const running = await startGitHub({ settings, webUrl: "http://localhost:3000", webhookUrl });
  return {
    ...running,
    gitHub: createGitHub(running.gitHubConfig),
    hooks,
    webhookUrl,
    async close() {
      await running.close();
      await hooks.close();
    },
  };
}

const run = promisify(execFile);

/** Runs real git with settings of its own. Throws with git's output if it fails. */
export async function git(directory: string, ...args: string[]): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    HOME: directory,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_AUTHOR_NAME: "Ada Lock",
    GIT_AUTHOR_EMAIL: "ada@example.com",
    GIT_COMMITTER_NAME: "Ada Lock",
    GIT_COMMITTER_EMAIL: "ada@example.com",
  };
  return (await run("git", args, { cwd: directory, env, maxBuffer: 64 * 1024 * 1024 })).stdout;
}

/** A minimal browser: keeps cookies, follows no redirects. */
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

  submit(path: string, fields: Record<string, string>): Promise<Response> {
    return this.#send(path, { method: "POST", body: new URLSearchParams(fields) });
  }
}

/** A redirect's target. */
export function locationOf(response: Response): URL {
  return new URL(response.headers.get("location") ?? "", response.url);
}

/** The App's JSON web token, for tests that call the REST API without the client. */
export function createAppJwt(
  { gitHubConfig }: Pick<GitHubStandIn, "gitHubConfig">,
  input: { issuer?: string; lifetime?: number } = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const issuer = input.issuer ?? gitHubConfig.appId;
  const jwt = new SignJWT({}).setProtectedHeader({ alg: "RS256" }).setIssuer(issuer);
  return jwt
    .setIssuedAt(now)
    .setExpirationTime(now + (input.lifetime ?? 300))
    .sign(createPrivateKey(gitHubConfig.privateKey));
}
