import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { SignInAttempt } from "@towpath/logs/sign-ins";
import { freePorts } from "@towpath/role/testing";
import type { Page } from "playwright-core";
import { expect, inject, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";
import { memoryProvider } from "./authorize.ts";
import { newVisitor, signUp } from "./browser.ts";
import { openSignedInServer } from "./signed-in-server.ts";

const name = "sign-in-doctor";
const issuer = inject("url");
const server = openSignedInServer(name);
const { url } = server;
const require = createRequire(import.meta.url);

/** With its own name, as steps of one program in one network within seconds count as one attempt, across test files. */
const named: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set("user-agent", `${name}/1`);
  return fetch(input, { ...init, headers });
};
const transportOf = (authProvider: ReturnType<typeof memoryProvider>) =>
  new StreamableHTTPClientTransport(url, { authProvider, fetch: named });

const connect = async (authProvider: ReturnType<typeof memoryProvider>, clientName: string) => {
  const client = new Client({ name: clientName, version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transportOf(authProvider));
  return client;
};

type Attempts = { attempts: (SignInAttempt & { explanation: { title: string } | null })[] };

/** The attempts as the operator reads them, newest first. */
async function readAttempts(): Promise<Attempts["attempts"]> {
  const token = (await readFile(join(inject("dataDirectory"), "operator-token"), "utf8")).trim();
  const answer = await fetch(`${issuer}/api/v1/projects/${name}/sign-ins`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return ((await answer.json()) as Attempts).attempts;
}

const attemptOf = async (clientName: string) =>
  (await readAttempts()).find((attempt) => attempt.clientName === clientName);

const outcomeOf = async (clientName: string) => {
  const attempt = await attemptOf(clientName);
  return attempt && [attempt.state, attempt.problem, attempt.endedAt];
};
const expectOutcome = (clientName: string, outcome: readonly (string | null)[]) =>
  expect.poll(() => outcomeOf(clientName), { timeout: 20_000 }).toEqual(outcome);

const script = join(repositoryRoot, "tests", "e2e", "sign_in_with_mcp.py");
const python = (...packages: string[]) => [
  "run",
  "--no-project",
  ...packages.flatMap((name) => ["--with", name]),
  "python",
  script,
  url.href,
];

test("GW-5 a client that gets in: every step of it is green on the page", async () => {
  const authProvider = memoryProvider(server.callback.url, "Right app");
  await expect(connect(authProvider, "right")).rejects.toThrow();
  const answer = await server.allow(authProvider.kept.asked ?? "");
  await transportOf(authProvider).finishAuth(answer);
  await (await connect(authProvider, "right")).close();
  await expectOutcome("Right app", ["connected", null, "call"]);
  // Each worker of the gateway writes its steps a moment later: the call may appear before the challenge.
  const steps = async () => (await attemptOf("Right app"))?.steps ?? [];
  await expect
    .poll(async () => (await steps()).map(({ kind, state, time }) => [kind, state, time !== null]))
    .toEqual(
      "challenge resource_metadata server_metadata registration authorization sign_in consent token call"
        .split(" ")
        .map((kind) => [kind, "done", true]),
    );
  await server.owner.page.goto(issuer);
  // The welcome's, unless another file has connected GitHub.
  await server.owner.page.waitForURL(/\/(?:servers|welcome)\b/);
  const [, orgSlug] = new URL(server.owner.page.url()).pathname.split("/");
  await server.owner.page.goto(`${issuer}/${orgSlug}/${name}/sign-ins`);
  const card = server.owner.page.getByRole("region", { name: "Right app" });
  await card.getByText("Connected").waitFor();
  const listed = card.getByRole("list", { name: "Steps" }).getByRole("listitem");
  await expect.poll(() => listed.filter({ hasText: ", done" }).count()).toBe(9);
});

test("GW-5 a client with a wrong return address, and one at a private address, are refused with the reason", async () => {
  const moved = memoryProvider(server.callback.url, "Moved app");
  await expect(connect(moved, "moved")).rejects.toThrow();
  const asked = new URL(moved.kept.asked ?? "");
  asked.searchParams.set("redirect_uri", "https://elsewhere.example/callback");
  await server.owner.page.goto(asked.href);
  await server.owner.page.getByRole("heading", { name: "This app can't be connected" }).waitFor();
  await expectOutcome("Moved app", ["failed", "redirect_not_registered", "authorization"]);

  const clientId = "https://10.0.0.1/client.json";
  const hidden = { ...memoryProvider(server.callback.url, "Hidden app"), clientMetadataUrl: clientId };
  await expect(connect(hidden, "hidden")).rejects.toThrow();
  expect(hidden.kept.asked?.searchParams.get("client_id")).toBe(clientId);
  await server.owner.page.goto(hidden.kept.asked?.href ?? "");
  await server.owner.page.getByRole("heading", { name: "This app can't be connected" }).waitFor();
  const problems = async () =>
    (await readAttempts()).filter((attempt) => attempt.clientId === clientId).map(({ problem }) => problem);
  await expect.poll(problems, { timeout: 20_000 }).toEqual(["document_private"]);
});

test("GW-5 a person who declines, or is no member, ends the attempt with that reason", async () => {
  const declined = memoryProvider(server.callback.url, "Declined app");
  await expect(connect(declined, "declined")).rejects.toThrow();
  await server.owner.page.goto(declined.kept.asked?.href ?? "");
  await server.owner.page.getByRole("button", { name: "Cancel" }).click();
  await expectOutcome("Declined app", ["failed", "declined", "consent"]);

  const strange = memoryProvider(server.callback.url, "Strange app");
  await expect(connect(strange, "strange")).rejects.toThrow();
  const stranger = await newVisitor(server.browser);
  await signUp(stranger.page, issuer);
  await stranger.page.waitForURL(/\/welcome\/create-organization/);
  await stranger.page.goto(strange.kept.asked?.href ?? "");
  await stranger.page.getByRole("heading", { name: "You can't connect this server" }).waitFor();
  await expect.poll(() => stranger.page.getByRole("button", { name: "Allow" }).count()).toBe(0);
  await expectOutcome("Strange app", ["failed", "not_a_member", "sign_in"]);
  await stranger.context.close();
});

test.runIf(isThorough)(
  "GW-5 mcp 1.9, which speaks 2025-03-26 and names no server, gets in: its person chooses the server",
  async () => {
    const answer = async (address: string) => {
      await server.owner.page.goto(address);
      await chooseAndAllow(server.owner.page);
    };
    const args = python("mcp==1.9.4", "pydantic==2.11.10");
    const { status, printed } = await server.runProgram("uv", args, { answer });
    expect([status, printed]).toEqual([0, expect.stringContaining('{"text": "from mcp 1.9.4"}')]);
    await expectOutcome("mcp 1.9.4", ["connected", null, "call"]);
  },
);

async function chooseAndAllow(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "Which server did you add to mcp 1.9.4?" }).waitFor();
  await page.getByRole("link", { name: new RegExp(`^${name} of`) }).click();
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText("done").waitFor();
}

test.runIf(isThorough)("GW-4 GW-5 the bare client of mcp 2 signs in and calls", async () => {
  const { status, printed } = await server.runProgram("uv", python("mcp==2.3.0"));
  expect([status, printed]).toEqual([0, expect.stringContaining('{"text": "from mcp 2.3.0"}')]);
});

test.runIf(isThorough)("GW-4 GW-5 the official inspector's web page signs in, in a real browser", async () => {
  const manifest = require.resolve("@modelcontextprotocol/inspector/package.json");
  const program = join(dirname(manifest), "clients", "launcher", "build", "index.js");
  const [client = 0, sandbox = 0] = await freePorts(2);
  const ports = { CLIENT_PORT: String(client), SERVER_PORT: String(sandbox) };
  const child = spawn(process.execPath, [program, "--web", url.href, "--transport", "http"], {
    env: { ...process.env, ...ports, HOME: server.home, MCP_AUTO_OPEN_ENABLED: "false" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const address = await new Promise<string>((resolve, reject) => {
    let printed = "";
    child.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      const found = /http:\/\/\S+MCP_INSPECTOR_API_TOKEN=\w+(?=\s)/.exec(printed)?.[0];
      if (found) resolve(found);
    });
    child.once("close", () => reject(new Error(`The inspector ended:\n${printed}`)));
  });
  const { page } = server.owner;
  await page.goto(address);
  await page.getByRole("switch", { name: /^Connect or disconnect/ }).click({ force: true });
  await page.getByRole("button", { name: "Allow" }).click();
  await page.waitForURL((at) => at.port === String(client));
  await page.getByText("Connected", { exact: true }).first().waitFor();
  const inspectors = async () =>
    (await readAttempts()).filter(({ clientName }) => /inspector/i.test(clientName ?? "")).map(({ state }) => state);
  await expect.poll(inspectors, { timeout: 20_000 }).toContain("connected");
});
