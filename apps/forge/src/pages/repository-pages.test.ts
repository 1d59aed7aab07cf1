import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseWebhook } from "@towpath/github";
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
