import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { newRepository, newToken, type Repository, removeClones, serverFiles } from "./repository.ts";
import { buildsOf, changeSource, deployLive, expectVersion, makeWebhookSecret, sourceOf } from "./server.ts";

// One server and its repository, step by step like its owner.
const name = "gitea-follow";
let repository: Repository;

beforeAll(async () => {
  repository = await newRepository("follow");
  await deployLive(repository.cloneUrl, name);
});
afterAll(removeClones);

type Hook = { readonly id: number };

/** As the server's settings instruct. */
const addHook = async (secret: string) =>
  repository.api<Hook>("POST", "/hooks", {
    type: "gitea",
    active: true,
    events: ["push", "delete"],
    config: { url: (await sourceOf(name)).webhook.url, content_type: "json", secret },
  });

/** Seconds until a build of this commit exists. */
async function secondsUntilBuild(sha: string, branch = "main"): Promise<number> {
  const begun = performance.now();
  await expect
    .poll(async () => (await buildsOf(name, branch))[0]?.commitSha, { timeout: 45_000, interval: 50 })
    .toBe(sha);
  return (performance.now() - begun) / 1000;
}

test("SRC-2 without a webhook a push to a real Gitea is built by asking, and its state is shown there", async () => {
  const { token } = await newToken("write:repository");
  await changeSource(name, { status: { kind: "gitea", token } });
  const sha = await repository.push(serverFiles("two"), "Second version");
  const took = await secondsUntilBuild(sha);
  process.stderr.write(`asking a real Gitea: build after ${took.toFixed(1)} s\n`);
  await expectVersion(name, "two");
  type Shown = {
    readonly state: string;
    readonly statuses: { readonly context: string; readonly target_url: string }[];
  };
  const shown = () => repository.api<Shown>("GET", `/commits/${sha}/status`);
  await expect.poll(async () => (await shown()).state, { timeout: 15_000 }).toBe("success");
  const { statuses } = await shown();
  expect(statuses).toHaveLength(1);
  expect(statuses[0]?.target_url).toMatch(new RegExp(`^${inject("url")}/.+/${name}/build-logs/`));
  await expect.poll(async () => (await sourceOf(name)).status).toMatchObject({ problem: null });
});

test("SRC-2 a webhook of a real Gitea with another secret is refused, and changes nothing", async () => {
  await makeWebhookSecret(name);
  const { id } = await addHook("another secret");
  await repository.api("POST", `/hooks/${id}/tests`);
  // Gitea's API doesn't return the answers to its deliveries; the next test shows that they arrive.
  await new Promise((done) => setTimeout(done, 2000));
  expect((await sourceOf(name)).webhook.receivedAt).toBeNull();
  await repository.api("DELETE", `/hooks/${id}`);
});

test("SRC-2 a push to a real Gitea is built at once by its webhook, branches get previews and end with them, tags build nothing", async () => {
  const { id } = await addHook(await makeWebhookSecret(name));
  await changeSource(name, { previews: true });
  const sha = await repository.push(serverFiles("three"), "Third version");
  const took = await secondsUntilBuild(sha);
  process.stderr.write(`webhook of a real Gitea: build after ${took.toFixed(1)} s\n`);
  expect((await sourceOf(name)).webhook.receivedAt).not.toBeNull();
  await expectVersion(name, "three");

  await repository.git("checkout", "--quiet", "-b", "feature/rain");
  const preview = await repository.push(serverFiles("rain"), "Measure rain");
  await secondsUntilBuild(preview, "feature/rain");
  await expect
    .poll(async () => (await buildsOf(name, "feature/rain"))[0]?.status, { timeout: 60_000 })
    .toBe("succeeded");
  await repository.git("push", "--quiet", "origin", "--delete", "feature/rain");
  await expect.poll(async () => (await sourceOf(name)).branches, { timeout: 15_000 }).toEqual(["main"]);

  await repository.git("checkout", "--quiet", "main");
  const before = await buildsOf(name);
  await repository.git("tag", "v1");
  await repository.git("push", "--quiet", "origin", "v1");
  // No build comes of its webhook.
  await new Promise((done) => setTimeout(done, 3000));
  expect(await buildsOf(name)).toEqual(before);
  await repository.api("DELETE", `/hooks/${id}`);
});

test("SRC-2 rewritten history at a real Gitea is followed, and a failed build leaves the live version", async () => {
  await repository.git("reset", "--quiet", "--hard", "HEAD~1");
  const broken = await repository
    .push({ "server.py": "raise SystemExit('no server')\n" }, "Broken")
    .catch(() => repository.git("rev-parse", "HEAD"));
  await repository.git("push", "--quiet", "--force", "origin", "main");
  await secondsUntilBuild(broken);
  await expect.poll(async () => (await buildsOf(name))[0]?.status, { timeout: 60_000 }).toBe("failed");
  await expectVersion(name, "three");
  type Shown = { readonly state: string };
  const state = async () => (await repository.api<Shown>("GET", `/commits/${broken}/status`)).state;
  await expect.poll(state, { timeout: 15_000 }).toBe("failure");
});
