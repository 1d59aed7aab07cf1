import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launchChromium } from "../chromium.ts";

import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { newRepository, newToken, removeClones, serverFiles, storeLfsFile } from "./repository.ts";
import { buildsOf, checkNow, deploy, deployLive, sourceOf, versionOf } from "./server.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await removeClones();
});

/** A page of the organization's owner. */
const newPage = async () => {
  const context = await browser.newContext({ storageState: JSON.parse(inject("signedIn")) });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  return page;
};

test("SRC-2 a public repository of a real Gitea is deployed by the URL that it shows for cloning, or by a page's", async () => {
  const { cloneUrl } = await newRepository("weather");
  await deployLive(cloneUrl, "gitea-public");
  expect(await versionOf("gitea-public")).toBe("one");
  const page = cloneUrl.replace(/\.git$/, "/src/branch/main/server.py");
  await deployLive(page, "gitea-page");
  expect(await sourceOf("gitea-page")).toMatchObject({ url: cloneUrl.replace(/\.git$/, ""), problem: null });
});

test("SRC-2 a private repository of a real Gitea is refused without a token, and deployed with one that may only read", async () => {
  const { cloneUrl } = await newRepository("closed", { isPrivate: true });
  const without = await deploy(cloneUrl, "gitea-token");
  expect([without.status, without.stderr]).toEqual([
    1,
    expect.stringMatching(/shows no repository at this URL.*if the repository is private, add a token/s),
  ]);
  const wrong = await deploy(cloneUrl, "gitea-token", "0".repeat(40));
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining("refuses the token")]);
  const other = await newToken("read:user");
  const lacking = await deploy(cloneUrl, "gitea-token", other.token);
  expect([lacking.status, lacking.stderr]).toEqual([1, expect.stringMatching(/refuses the token.*may not read/s)]);
  const { token } = await newToken("read:repository");
  await deployLive(cloneUrl, "gitea-token", token);
  expect(await versionOf("gitea-token")).toBe("one");
});

test("SRC-2 a private repository of a real Gitea is deployed by a deploy key over its SSH server, in the browser", async () => {
  const repository = await newRepository("keyed", { isPrivate: true });
  const page = await newPage();
  await page.goto(`${inject("url")}/${inject("organization")}/servers/new`);
  await page.getByLabel("Paste a repository's URL, a package or a registry entry").fill(repository.sshUrl);
  await page.getByRole("button", { name: "Make a deploy key" }).click();
  const key = (await page.getByText(/^ssh-ed25519 /).textContent()) ?? "";
  // Before the key is added there.
  await page.getByRole("button", { name: "Look again" }).click();
  await page.getByText(/refuses the deploy key/).waitFor();
  // The key is added to another repository, which the host reports in its own way.
  const other = await newRepository("another", { isPrivate: true });
  await other.api("POST", "/keys", { title: "Towpath", key: key.trim(), read_only: true });
  await page.getByRole("button", { name: "Look again" }).click();
  await page.getByText(/shows no repository at this URL/).waitFor();
  const { id } = await repository.api<{ readonly id: number }>("POST", "/keys", {
    title: "Towpath",
    key: key.trim(),
    read_only: true,
  });
  await page.getByRole("button", { name: "Look again" }).click();
  await page.getByRole("region", { name: "Found" }).getByText("ada/keyed").waitFor();
  await page.getByLabel("Server name").fill("gitea-key");
  await page.getByText("This name is available.").waitFor();
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.waitForURL(/\/gitea-key\/build-logs\//);
  await page.getByRole("link", { name: "Open inspector" }).first().waitFor({ timeout: 60_000 });
  await page.context().close();
  await repository.push(serverFiles("two"));
  const sha = await repository.git("rev-parse", "HEAD");
  await expect.poll(async () => (await buildsOf("gitea-key"))[0]?.commitSha, { timeout: 45_000 }).toBe(sha);
  await repository.api("DELETE", `/keys/${id}`);
  expect((await checkNow("gitea-key")).problem?.message).toMatch(/shows no repository|refuses the deploy key/);
  await other.api("DELETE", "");
  await repository.api("DELETE", "");
  expect((await checkNow("gitea-key")).problem?.message).toMatch(/shows no repository|refuses the deploy key/);
});

test("SRC-2 LFS files and a private submodule of a real Gitea are in the build, with the token of the repository", async () => {
  await newRepository("part", { isPrivate: true, files: { "part.py": 'text = "from a submodule"\n' } });
  const whole = await newRepository("whole", { isPrivate: true, files: null });
  const pointer = await storeLfsFile(whole, "from a large file");
  await whole.git("-c", "protocol.allow=always", "submodule", "--quiet", "add", "../part.git", "part");
  await whole.push({
    ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    "data.bin": pointer,
    "requirements.txt": plainRequirements,
    "server.py": plainServer({ version: `open("data.bin").read() + " and " + part.text` }, "from part import part"),
  });
  const { token } = await newToken("read:repository");
  await deployLive(whole.cloneUrl, "gitea-whole", token);
  expect(await versionOf("gitea-whole")).toBe("from a large file and from a submodule");
});

test("SRC-2 an empty repository of a real Gitea, a path without one and its front page each get their own error", async () => {
  const { cloneUrl } = await newRepository("empty", { files: null });
  const refusal = async (url: string) => (await deploy(url, "gitea-nothing")).stderr;
  expect(await refusal(cloneUrl)).toContain("has no commits yet. Push one, then try again.");
  expect(await refusal(`${inject("giteaUrl")}/ada/none.git`)).toMatch(/shows no repository at this URL/);
  expect(await refusal(`${inject("giteaUrl")}/ada`)).toMatch(/repository/);
});
