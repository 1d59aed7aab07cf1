import { parseWebhook } from "@towpath/github";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser, startTestForge, type TestForge, userToken } from "../testing/test-forge.ts";

let forge: TestForge;

beforeAll(async () => {
  forge = await startTestForge();
  await forge.admin.ensureAccount({ login: "ada" });
  await forge.admin.ensureAccount({ login: "bob" });
  await forge.admin.ensureInstallation({ login: "ada" });
});

afterAll(() => forge.close());

async function as(login: string): Promise<Browser> {
  const browser = new Browser(forge.url);
  await browser.submit("/login", { existing: login });
  return browser;
}

test("GH-3 a pull request is opened, closed and reopened on its pages, by the owner only", async () => {
  const files = [{ path: "echo.py", content: "1\n" }] as const;
  const { commitSha } = await forge.gitHub.createRepositoryFromSample({
    userToken: await userToken(forge, "ada"),
    name: "echo",
    message: "Add",
    files: [files[0]],
  });
  const ada = await as("ada");
  expect(await (await ada.get("/ada/echo/pulls")).text()).toContain("Push a second branch");
  const created = await fetch(`${forge.url}/api/v3/repos/ada/echo/git/refs`, {
    method: "POST",
    headers: { authorization: `Bearer ${await userToken(forge, "ada")}` },
    body: JSON.stringify({ ref: "refs/heads/topic", sha: commitSha }),
  });
  expect(created.status).toBe(201);

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
