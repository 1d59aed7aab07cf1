import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommitStatus, parseWebhook } from "@towpath/github";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser, git, startTestForge, type TestForge } from "../testing/test-forge.ts";

let forge: TestForge;
let work: string;

beforeAll(async () => {
  forge = await startTestForge();
  work = await mkdtemp(join(tmpdir(), "towpath-work-"));
  await forge.admin.ensureAccount({ login: "ada" });
  await forge.admin.ensureAccount({ login: "bob" });
  await forge.admin.ensureInstallation({ login: "ada" });
});

afterAll(async () => {
  await forge.close();
  await rm(work, { recursive: true, force: true });
});

async function as(login: string): Promise<Browser> {
  const browser = new Browser(forge.url);
  await browser.submit("/login", { existing: login });
  return browser;
}

test("GH-3 a pull request is opened, closed and reopened on its pages, by the owner only", async () => {
  const { pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "echo" });
  const ada = await as("ada");
  expect(await (await ada.get("/ada/echo")).text()).toContain("This repository is empty.");
  await git(work, "init", "-q", "-b", "main", ".");
  await git(work, "commit", "-q", "--allow-empty", "-m", "First");
  await git(work, "push", "-q", pushUrl, "main");
  expect(await (await ada.get("/ada/echo")).text()).toContain("Push a second branch");
  await git(work, "push", "-q", pushUrl, "main:topic");
  expect(await (await ada.get("/ada/echo")).text()).toContain("New pull request");

  const fields = { title: "A <b>change</b>", head: "topic", base: "main" };
  expect((await (await as("bob")).submit("/ada/echo/pulls", fields)).status).toBe(404);
  const opened = await ada.submit("/ada/echo/pulls", fields);
  expect(opened.headers.get("location")).toBe("/ada/echo/pull/1");
  expect((await ada.submit("/ada/echo/pulls", fields)).status).toBe(422);
  expect(await (await ada.get("/ada/echo/pull/1")).text()).toContain("A &lt;b&gt;change&lt;/b&gt;");

  for (const [state, action] of [
    ["closed", "closed"],
    ["open", "reopened"],
  ] as const) {
    expect((await (await as("bob")).submit("/ada/echo/pull/1", { state })).status).toBe(404);
    await ada.submit("/ada/echo/pull/1", { state });
    const told = await forge.hooks.waitFor(
      ({ event }, payload) => event === "pull_request" && payload.action === action,
    );
    expect(parseWebhook("pull_request", told.body)).toMatchObject({ payload: { pull_request: { state } } });
  }
});

test("GH-3 a commit's page has its message, author, statuses and changes; a branch leads to its newest; strangers see none of a private one", async () => {
  const { pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "secret", private: true });
  const other = await mkdtemp(join(tmpdir(), "towpath-work-"));
  await git(other, "init", "-q", "-b", "feature/one", ".");
  await writeFile(join(other, "server.py"), "print('<hello>')\n");
  await git(other, "add", ".");
  await git(other, "commit", "-q", "-m", "Say <hello>\n\nMore of it");
  await git(other, "push", "-q", pushUrl, "feature/one");
  const sha = (await git(other, "rev-parse", "HEAD")).trim();
  await rm(other, { recursive: true });
  const ada = await as("ada");
  const text = await (await ada.get(`/ada/secret/commit/${sha}`)).text();
  for (const part of ["Say &lt;hello&gt;", "More of it", "server.py", "print(&#39;&lt;hello&gt;&#39;)"])
    expect(text).toContain(part);
  const branch = await ada.get("/ada/secret/tree/feature/one");
  expect(branch.headers.get("location")).toBe(`/ada/secret/commit/${sha}`);
  expect((await ada.get("/ada/secret/tree/none")).status).toBe(404);
  expect((await ada.get(`/ada/secret/commit/${"0".repeat(40)}`)).status).toBe(404);
  const bob = await as("bob");
  for (const path of [`commit/${sha}`, "tree/feature/one"])
    expect((await bob.get(`/ada/secret/${path}`)).status).toBe(404);
});

test("GH-3 commit, branch and pull request show the newest status of each server with its link; other links stay out", async () => {
  const { pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "reported" });
  const { installationId } = await forge.admin.ensureInstallation({ login: "ada" });
  const directory = await mkdtemp(join(tmpdir(), "towpath-work-"));
  await git(directory, "init", "-q", "-b", "main", ".");
  await git(directory, "commit", "-q", "--allow-empty", "-m", "First");
  await git(directory, "push", "-q", pushUrl, "main", "main:topic");
  const sha = (await git(directory, "rev-parse", "HEAD")).trim();
  await rm(directory, { recursive: true });
  const ada = await as("ada");
  const pull = await ada.submit("/ada/reported/pulls", { head: "topic", base: "main", title: "Try it" });
  const paths = ["/ada/reported", `/ada/reported/commit/${sha}`, pull.headers.get("location") ?? ""];
  expect(await (await ada.get(paths[1] ?? "")).text()).toContain("No server builds this commit yet.");

  const targetUrl = "http://localhost:3000/acme/echo/build-logs/1";
  const report = (status: Partial<CommitStatus>) =>
    forge.gitHub.setCommitStatus({ installationId, owner: "ada", name: "reported" }, sha, {
      ...{ state: "pending", context: "towpath/echo", description: "Building", targetUrl },
      ...status,
    });
  await report({});
  await report({ state: "success", description: "Deployed" });
  await report({
    state: "failure",
    context: "towpath/other",
    description: "No <entrypoint>",
    targetUrl: "javascript:1",
  });
  for (const path of paths) {
    const text = await (await ada.get(path)).text();
    expect(text).toContain(`<a href="${targetUrl}"><span class="status success">Deployed</span></a>`);
    expect(text).toContain('<span class="status failure">No &lt;entrypoint&gt;</span>');
    expect(text).not.toMatch(/Building|javascript:/);
  }
});

test("BLD-8 a pull request shows checks, deployments and the App's comment as Markdown, from which strangers get no HTML", async () => {
  const { pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "told" });
  const { installationId } = await forge.admin.ensureInstallation({ login: "ada" });
  const directory = await mkdtemp(join(tmpdir(), "towpath-work-"));
  await git(directory, "init", "-q", "-b", "main", ".");
  await git(directory, "commit", "-q", "--allow-empty", "-m", "First");
  await git(directory, "push", "-q", pushUrl, "main", "main:topic");
  const sha = (await git(directory, "rev-parse", "HEAD")).trim();
  await rm(directory, { recursive: true });
  const ada = await as("ada");
  const pull = await ada.submit("/ada/told/pulls", { head: "topic", base: "main", title: "Try it" });
  const path = pull.headers.get("location") ?? "";
  const to = { installationId, owner: "ada", name: "told" };
  await forge.gitHub.createCheckRun(to, sha, {
    ...{ name: "towpath/told", externalId: "1", detailsUrl: "http://localhost:3000/b", actions: [] },
    ...{ status: "completed", conclusion: "failure", title: "No <entrypoint>", summary: "**Why**", text: null },
  });
  const of = { sha, environment: "preview/topic", description: "Towpath: told", transient: true, key: "1" };
  const deployment = await forge.gitHub.createDeployment(to, of);
  const urls = { logUrl: "javascript:1", environmentUrl: "http://localhost:8080/told-topic/mcp" };
  await forge.gitHub.setDeploymentStatus(to, deployment, { state: "success", description: "", ...urls });
  const body = "<!-- mark -->\n| Server |\n| --- |\n| `a` <script>1</script> [x](javascript:1) <img src=x onerror=1> |";
  await forge.gitHub.createComment(to, Number(path.split("/").at(-1)), body);
  const text = await (await ada.get(path)).text();
  for (const part of ["towpath/told", "No &lt;entrypoint&gt;", "<strong>Why</strong>", "<code>a</code>", "<td>"])
    expect(text).toContain(part);
  expect(text).not.toMatch(/<script>1|<img|javascript:|mark --/);
  const repository = await (await ada.get("/ada/told")).text();
  expect(repository).toContain(`<a href="${urls.environmentUrl}">preview/topic</a>`);
  expect(repository).toContain('<span class="status success">Active</span>');
  expect(repository).not.toContain("javascript:");
});

test("UI-2 GH-3 the forge's pages have the product's colors, fonts and theme, and lead back to it", async () => {
  const asset = async (name: string) => (await fetch(`${forge.url}/assets/${name}`)).text();
  const product = await readFile(new URL("../../../web/src/styles.css", import.meta.url), "utf8");
  const [light = "", dark = ""] = product.split('[data-theme="dark"] {');
  const colorOf = (name: string, css: string) => new RegExp(`^  --${name}: (oklch\\(.*\\));$`, "m").exec(css)?.[1];
  const colors = [...(await asset("forge.css")).matchAll(/^ {2}--([\w-]+): light-dark\((.*)\);$/gm)];
  expect(colors.length).toBeGreaterThan(15);
  for (const [, name = "", pair] of colors) {
    expect([name, pair]).toEqual([name, `${colorOf(name, light)}, ${colorOf(name, dark)}`]);
  }
  expect(await asset("mark.svg")).toBe(
    await readFile(new URL("../../../web/public/favicon.svg", import.meta.url), "utf8"),
  );
  expect(await asset("theme.js")).toContain('localStorage.getItem("theme")');
  for (const font of ["geist.woff2", "geist-mono.woff2"]) expect(await asset(font)).toMatch(/^wOF2/);
  const ada = await as("ada");
  expect((await ada.get("/-/dashboard")).headers.get("location")).toBe("http://localhost:3000");
  expect(await (await ada.get("/ada")).text()).not.toMatch(/at GitHub|stand-in/);
});

test("BLD-2 GH-3 a file at a commit has a page with an anchor for each line, for who may read the repository", async () => {
  const { pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "files", private: true });
  const directory = await mkdtemp(join(work, "files-"));
  await git(directory, "init", "-q", "-b", "main", ".");
  await writeFile(join(directory, "server.py"), "import os\nraise SystemExit('<b>')\n");
  await git(directory, "add", ".");
  await git(directory, "commit", "-q", "-m", "First");
  await git(directory, "push", "-q", pushUrl, "main");
  const sha = (await git(directory, "rev-parse", "HEAD")).trim();
  const ada = await as("ada");
  const shown = await (await ada.get(`/ada/files/blob/${sha}/server.py`)).text();
  expect(shown).toMatch(/id="L2"[^>]*>raise SystemExit\(&#39;&lt;b&gt;&#39;\)/);
  expect(shown).not.toContain('id="L3"');
  for (const path of ["absent.py", "..%2fserver.py"])
    expect((await ada.get(`/ada/files/blob/${sha}/${path}`)).status).toBe(404);
  expect((await (await as("bob")).get(`/ada/files/blob/${sha}/server.py`)).status).toBe(404);
});
