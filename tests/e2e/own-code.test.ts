import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createAdmin } from "@towpath/github-stand-in";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launchChromium } from "../chromium.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { towpath } from "../instance/towpath-process.ts";
import { expectAccessible } from "./accessible.ts";
import { connectGitHub, createOrganization, newVisitor, signUp } from "./browser.ts";

const run = promisify(execFile);
const [url, serversUrl] = [inject("url"), inject("serversUrl")];
const account = `own-${process.pid}`;
const server = `own-code-${process.pid}`;
let browser: Browser;
let page: Page;
let slug: string;
let directory: string;
let key: string;

const git = (...args: string[]) =>
  run("git", ["-C", directory, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args]);

const source = (word: string) =>
  plainServer({
    word: `(print("word was asked"), "${word}")[1]`,
    caller: "headers.get(\"towpath-actor-role\") + f\", {len(headers.get('towpath-assertion', '').split('.'))} parts\"",
  });

async function commit(word: string) {
  await writeFile(join(directory, "server.py"), source(word));
  await git("add", ".");
  await git("commit", "--quiet", "-m", `Say ${word}`);
}

async function ask(endpoint: string, authorization: string | null = `Bearer ${key}`, tool = "word"): Promise<unknown> {
  const client = new Client({ name: "own", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  const headers = authorization === null ? {} : { authorization };
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint), { requestInit: { headers } }));
  const { content } = await client.callTool({ name: tool, arguments: {} });
  await client.close();
  return Array.isArray(content) && content[0]?.type === "text" ? content[0].text : content;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-own-"));
  browser = await launchChromium();
  ({ page } = await newVisitor(browser));
  await signUp(page, url);
  slug = await createOrganization(page, "Own Code");
  await connectGitHub(page, account);
  const { pushUrl } = await createAdmin(inject("gitHubUrl")).ensureRepository({ owner: account, name: "weather" });
  await git("init", "--quiet", "--initial-branch", "main");
  await writeFile(join(directory, "requirements.txt"), plainRequirements);
  await commit("one");
  await git("remote", "add", "towpath", pushUrl);
  await git("push", "--quiet", "-u", "towpath", "HEAD:main");
});

afterAll(async () => {
  await browser.close();
  await rm(directory, { recursive: true, force: true });
});

describe("own code from a push to previews", () => {
  test("ONB-5 ONB-6 VAL-2 choose the repository, name entrypoint and mode, deploy", async () => {
    await page.goto(`${url}/${slug}/welcome/choose-repo`);
    await expectAccessible(page);
    await page.getByRole("listitem").filter({ hasText: "weather" }).getByRole("link").click();
    await page.waitForURL(/\/welcome\/server-deploy/);
    await page.getByLabel("Server name").fill(server);
    await page.getByText("This name is available").waitFor();
    const entrypoint = page.getByLabel(/^Entrypoint/);
    // Left empty, the build finds the entrypoint; candidates are offered.
    await page.getByRole("button", { name: "server.py", exact: true }).waitFor();
    expect(await entrypoint.inputValue()).toBe("");
    await entrypoint.fill("../server.py");
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByText("Entrypoint cannot reference parent directories").first().waitFor();
    await entrypoint.fill("nothing.py");
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page
      .getByText(/There is no nothing\.py in \S+\/weather at main \([0-9a-f]{7}\)\./)
      .first()
      .waitFor();
    await entrypoint.fill("server.py");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.waitForURL(/\/build-logs\//);
    await page.getByRole("link", { name: "Open inspector" }).first().waitFor({ timeout: 90_000 });
  });

  test("GW-4 KEY-3 a members-only server refuses strangers and answers to a key of the organization", async () => {
    const refused = await fetch(`${serversUrl}/${server}/mcp`, { method: "POST", body: "{}" });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toMatch(/^Bearer /);
    await page.goto(`${url}/${slug}/settings/api-keys`);
    await expectAccessible(page);
    await page
      .getByRole("button", { name: /create|new/i })
      .first()
      .click();
    await page.getByLabel(/name/i).last().fill("end to end");
    await page
      .getByRole("button", { name: /create/i })
      .last()
      .click();
    key = (
      await page
        .getByText(/^tp_\w+/)
        .first()
        .innerText()
    ).trim();
    expect(await ask(`${serversUrl}/${server}/mcp`)).toBe("one");
    await expect(ask(`${serversUrl}/${server}/mcp`, "Bearer tp_wrong")).rejects.toThrow();
  });

  test("PRJ-10 GW-11 an admin JWT from its page calls as its person, whose identity is signed when switched on; clearing the cache ends it", async () => {
    const endpoint = `${serversUrl}/${server}/mcp`;
    await page.goto(`${url}/${slug}/${server}/admin-jwt`);
    await page.getByRole("button", { name: "Show token" }).click();
    const bearer = `Bearer ${(await page.getByTestId("admin-jwt").innerText()).trim()}`;
    await page.getByText("Newly issued.").waitFor();
    await expectAccessible(page);
    expect(await ask(endpoint, bearer, "caller")).toBe("owner, 1 parts");
    await page.goto(`${url}/${slug}/${server}/settings`);
    await page.getByRole("switch", { name: "Sign the caller's identity" }).click();
    await expect.poll(() => ask(endpoint, bearer, "caller"), { timeout: 20_000 }).toBe("owner, 3 parts");
    await page.goto(`${url}/${slug}/${server}/admin-jwt`);
    await page.getByRole("button", { name: "Show token" }).click();
    await page.getByText("Reused from the cache.").waitFor();
    await page.getByRole("button", { name: "Clear cache and revoke tokens" }).click();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Clear and revoke" }).click();
    await page.getByText("All admin JWTs for this server are revoked").waitFor();
    await page.getByRole("button", { name: "Show token" }).waitFor();
    await expect.poll(() => ask(endpoint, bearer).catch(() => "refused"), { timeout: 20_000 }).toBe("refused");
  });

  test("BLD-7 a push to the default branch goes live by itself", async () => {
    await commit("two");
    await git("push", "--quiet", "towpath", "HEAD:main");
    await expect.poll(() => ask(`${serversUrl}/${server}/mcp`), { timeout: 60_000, interval: 300 }).toBe("two");
  });

  test("BLD-7 GW-1 a push to another branch makes a preview with its own URL; production stays", async () => {
    await git("switch", "--quiet", "-c", "try-three");
    await commit("three");
    await git("push", "--quiet", "towpath", "HEAD:try-three");
    const preview = `${serversUrl}/${server}-try-three/mcp`;
    await expect.poll(() => ask(preview).catch(() => "not yet"), { timeout: 60_000, interval: 300 }).toBe("three");
    expect(await ask(`${serversUrl}/${server}/mcp`)).toBe("two");
    await page.goto(`${url}/${slug}/${server}/deployments`);
    await page.getByText(`${server}-try-three/mcp`).first().waitFor();
    await expectAccessible(page);
  });

  test("BLD-7 deleting the branch ends its preview", async () => {
    await git("push", "--quiet", "towpath", "--delete", "try-three");
    const status = async () =>
      (await fetch(`${serversUrl}/${server}-try-three/mcp`, { method: "POST", body: "{}" })).status;
    await expect.poll(status, { timeout: 20_000 }).toBe(401);
  });

  test("BLD-2 a push that breaks the server fails with a diagnosis; the live version stays", async () => {
    await git("switch", "--quiet", "main");
    await writeFile(join(directory, "server.py"), "import not_there_at_all\n");
    await git("commit", "--quiet", "--all", "-m", "Break it");
    await git("push", "--quiet", "towpath", "HEAD:main");
    await page.goto(`${url}/${slug}/${server}/deployments`);
    await page.getByText("Failed").first().waitFor({ timeout: 60_000 });
    await page
      .getByRole("link", { name: /Break it/ })
      .first()
      .click();
    await page
      .getByText(/not_there_at_all/)
      .first()
      .waitFor();
    await page
      .getByText(/What to do/i)
      .first()
      .waitFor();
    await expectAccessible(page);
    expect(await ask(`${serversUrl}/${server}/mcp`)).toBe("two");
  });

  test("OPS-4 the terminal does not deploy over a connected repository, and says what to do", async () => {
    const before = (await git("ls-remote", "towpath", "refs/heads/main")).stdout;
    const other = await mkdtemp(join(tmpdir(), "towpath-other-"));
    await writeFile(join(other, "server.py"), source("overwritten"));
    const options = ["--name", server, "--public", "--data-dir", inject("dataDirectory")];
    const { status, stderr } = await towpath("deploy", other, ...options);
    await rm(other, { recursive: true });
    expect([status, stderr]).toEqual([1, expect.stringContaining(`Push to ${account}/weather`)]);
    expect(stderr).toContain("choose another --name");
    expect((await git("ls-remote", "towpath", "refs/heads/main")).stdout).toBe(before);
    const stranger = await fetch(`${serversUrl}/${server}/mcp`, { method: "POST", body: "{}" });
    expect(stranger.status).toBe(401);
  });

  test("RUN-5 PRJ-3 LOG-4 the server's output is in its log, and a call's row links to its lines and back", async () => {
    await page.goto(`${url}/${slug}/${server}/deployments`);
    await page.getByRole("link", { name: "Server log" }).first().click();
    await page.getByText("word was asked").first().waitFor();
    await expectAccessible(page);
    await page.goto(`${url}/${slug}/${server}/logs?methodType=tool:word`);
    await page.getByRole("row").filter({ hasText: "word" }).first().click();
    const drawer = page.getByRole("dialog");
    await drawer.getByText("word was asked").waitFor();
    const requestId = new URL(page.url()).searchParams.get("request") ?? "";
    await drawer.getByRole("link", { name: "Show in the server log" }).click();
    const log = page.getByRole("region", { name: "Server log" });
    await log.getByText("word was asked").first().waitFor();
    await log.locator(`a[href*="${requestId}"]`).first().click();
    await drawer.getByText("word was asked").waitFor();
    await expect.poll(() => page.url()).toContain(requestId);
  });
});
