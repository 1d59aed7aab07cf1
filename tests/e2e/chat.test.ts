import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launchChromium } from "../chromium.ts";
import { repositoryRoot, towpath } from "../instance/towpath-process.ts";
import { expectAccessible } from "./accessible.ts";
import { newVisitor } from "./browser.ts";

// The instance's model calls `echo` for "Say …" (tests/instance/echoing-model.ts).

const name = `chatty-${process.pid}`;
let browser: Browser;
let page: Page;
let complaints: string[];
let chatUrl: string;

beforeAll(async () => {
  const directory = join(repositoryRoot, "python", "samples", "echo");
  const deployed = await towpath(
    "deploy",
    directory,
    "--name",
    name,
    "--entrypoint",
    "echo.py",
    "--data-dir",
    inject("dataDirectory"),
  );
  expect(deployed.stdout + deployed.stderr).toContain("Live: ");
  browser = await launchChromium();
  ({ page, complaints } = await newVisitor(browser));
  await page.goto(`${inject("url")}/login`);
  await page.getByLabel("Email").fill(inject("ownerEmail"));
  await page.getByLabel("Password").fill("correct horse battery staple");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/\/servers/);
  const slug = new URL(page.url()).pathname.split("/")[1] ?? "";
  chatUrl = `${inject("url")}/${slug}/${name}/chat`;
});
afterAll(() => browser?.close());

test("CHAT-1 CHAT-2 PRJ-9 a person asks a deployed server of members, allows its tool, and finds the call in the log", async () => {
  await page.goto(chatUrl);
  await page.getByRole("button", { name: "Say good morning" }).click();
  await expect.poll(() => page.getByLabel("Your question").inputValue()).toBe("Say good morning");
  await page.getByLabel("Your question").press("Enter");
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("The server answered: good morning").waitFor();
  const call = page.getByRole("region", { name: "Call of echo" });
  await expectAccessible(page);
  await call.getByRole("link", { name: "Log" }).click();
  const details = page.getByRole("dialog");
  await details.getByText("echo").first().waitFor();
  await details.getByText("Towpath chat").first().waitFor();
  expect(complaints).toEqual([]);
});

test("CHAT-1 the request log names client and person, and only web and worker have the model's key", async () => {
  const token = (await readFile(join(inject("dataDirectory"), "operator-token"), "utf8")).trim();
  const read = async () => {
    const answer = await fetch(`${inject("url")}/api/v1/projects/${name}/logs`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return JSON.stringify(await answer.json());
  };
  await expect.poll(read).toContain('"clientName":"Towpath chat"');
  expect(await read()).toMatch(/"principal":"user:[0-9a-f-]{36}"/);
  expect((await processesWith("a-key-of-the-model")).toSorted()).toEqual([
    "apps/web/serve.ts",
    "apps/worker/src/main.ts",
  ]);
});

/** The entry files of this instance's processes whose environment contains a text. */
async function processesWith(secret: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir("/proc")).filter((each) => /^\d+$/.test(each))) {
    const [environment, command] = await Promise.all(
      ["environ", "cmdline"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
    );
    if (!environment?.includes(secret) || !environment.includes(`TOWPATH_DATA_DIR=${inject("dataDirectory")}`))
      continue;
    found.push(/(apps\/[a-z]+\/[\w./-]+\.ts)/.exec(command ?? "")?.[1] ?? (command ?? "").slice(0, 80));
  }
  return found;
}
