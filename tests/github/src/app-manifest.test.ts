import { numberOf } from "@towpath/core/sources/github-connection/numbers";
import {
  appHealth,
  appManifest,
  convertManifest,
  createGitHubConnections,
  type GitHubConnections,
  isGitHubError,
  manifestUrl,
  type StoredConnection,
  webhookPathOf,
  webhooksMayArrive,
} from "@towpath/github";
import { freePort } from "@towpath/role/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser, locationOf, startTestForge, type TestForge } from "./testing/test-forge.ts";

// Two hosts with the same ids, each with an App that was made by the manifest flow.

let forges: readonly [TestForge, TestForge];
let stored: StoredConnection[] = [];
let connections: GitHubConnections;
let loads = 0;
let fullNames: readonly [string, string];

/** The receiver of a host's webhooks stands for this instance. */
const instanceOf = (forge: TestForge) => new URL(forge.webhookUrl).origin;

/** Makes an App at a host as a person does, and returns the connection that would be stored. */
async function make(
  forge: TestForge,
  number: number,
  { organization = null, lacking = {} }: { readonly organization?: string | null; readonly lacking?: object } = {},
): Promise<StoredConnection> {
  const person = new Browser(forge.url);
  await person.submit("/login", { login: "ada" });
  await person.submit("/login", { existing: "ada" });
  const id = crypto.randomUUID();
  const instanceUrl = instanceOf(forge);
  const instance = { instanceUrl, returnPath: "/back", webhookPath: webhookPathOf(id) };
  const manifest = JSON.stringify({
    ...appManifest({ url: forge.url, name: "Towpath acme", ...instance }),
    ...lacking,
  });
  const { pathname, search } = new URL(manifestUrl(forge.url, organization, "a state"));
  const asked = await person.submit(pathname + search, { manifest });
  expect(await asked.text()).toContain("Create GitHub App");
  const done = await person.submit("/settings/apps/create", { manifest, state: "a state", owner: organization ?? "" });
  const back = locationOf(done);
  expect([back.origin, back.pathname, back.searchParams.get("state")]).toEqual([instanceUrl, "/back", "a state"]);
  const code = back.searchParams.get("code") ?? "";
  const apiUrl = `${forge.url}/api/v3`;
  const app = await convertManifest(apiUrl, code);
  expect(app.ownerLogin).toBe(organization ?? "ada");
  const again = await convertManifest(apiUrl, code).catch((error: unknown) => error);
  expect(isGitHubError(again, "not_found")).toBe(true);
  return { ...app, id, number, version: 1, url: forge.url, apiUrl, webhookSecret: app.webhookSecret ?? "" };
}

beforeAll(async () => {
  forges = [await startTestForge(), await startTestForge()];
  stored = [await make(forges[0], 1), await make(forges[1], 2, { organization: "acme" })];
  connections = createGitHubConnections(null, async () => {
    loads++;
    return stored;
  });
  fullNames = (await Promise.all(
    forges.map(async ({ admin }, index) => {
      await admin.ensureAccount({ login: "ada" });
      await admin.ensureInstallation({ login: "ada" });
      return (await admin.ensureRepository({ owner: "ada", name: `at-${index}` })).repository.full_name;
    }),
  )) as unknown as [string, string];
});
afterAll(() => Promise.all(forges.map((forge) => forge.close())));

test("GH-5 an App made from a manifest works at once, and two hosts whose ids collide stay separate", async () => {
  const [one, two] = [numberOf(1, 1), numberOf(2, 1)];
  for (const [index, installationId] of [one, two].entries()) {
    expect(await connections.installation(installationId)).toMatchObject({
      id: installationId,
      account: { login: "ada" },
    });
    const { items } = await connections.repositories(installationId);
    expect(items.map((repository) => [repository.id, repository.full_name])).toEqual([
      [numberOf(index + 1, 1), fullNames[index]],
    ]);
    const found = await connections.repositoryById(installationId, numberOf(index + 1, 1));
    expect([found.id, found.full_name]).toEqual([numberOf(index + 1, 1), fullNames[index]]);
  }
});

test("GH-5 stored Apps are read when somebody uses GitHub; a removed one is gone, its keys can be replaced", async () => {
  connections.forget();
  loads = 0;
  for (let round = 0; round < 5; round++) await connections.installation(numberOf(1, 1));
  expect(loads).toBe(1);
  const before = await connections.find(1);
  const [first, second] = stored as [StoredConnection, StoredConnection];
  stored = [first];
  connections.forget();
  expect((await connections.all()).map(({ number }) => number)).toEqual([1]);
  // The same client, with its cached tokens.
  expect((await connections.find(1))?.github).toBe(before?.github);
  const gone = await connections.installation(numberOf(2, 1)).catch((error: unknown) => error);
  expect(isGitHubError(gone, "not_found")).toBe(true);
  expect(await connections.find(second.id)).toBeNull();
  stored = [{ ...first, version: 2, clientSecret: "another" }, second];
  connections.forget();
  expect((await connections.find(1))?.github).not.toBe(before?.github);
  expect((await connections.find(second.id))?.webhookPath).toBe(`/api/github/webhooks/${second.id}`);
});

test("GH-5 the environment's App is the first, keeps its ids, and an instance without any says so", async () => {
  const [forge] = forges;
  const both = createGitHubConnections({ ...forge.gitHubConfig }, async () => stored);
  expect((await both.all()).map(({ number, id, webhookPath }) => [number, id === null, webhookPath])).toEqual([
    [0, true, "/api/github/webhooks"],
    [1, false, webhookPathOf(stored[0]?.id ?? "")],
    [2, false, webhookPathOf(stored[1]?.id ?? "")],
  ]);
  expect((await both.preferred()).number).toBe(0);
  const none = createGitHubConnections(null, async () => []);
  await expect(none.preferred()).rejects.toMatchObject({ code: "not_configured" });
  await expect(none.installation(1)).rejects.toMatchObject({ code: "not_configured" });
  // A failure of the database isn't cached: the next use asks again.
  let fails = true;
  const shaky = createGitHubConnections(null, async () => (fails ? Promise.reject(new Error("unreachable")) : stored));
  await expect(shaky.all()).rejects.toThrow("unreachable");
  fails = false;
  expect(await shaky.all()).toHaveLength(2);
});

const health = async (more: { readonly now?: Date; readonly instanceUrl?: string } = {}) => {
  const found = await connections.find(1);
  if (!found) throw new Error("there is no connection 1");
  const { github, webhookPath } = found;
  return appHealth({ github, webhookPath, instanceUrl: instanceOf(forges[0]), now: new Date(), ...more });
};
const kinds = async (...given: Parameters<typeof health>) => (await health(...given)).problems.map(({ kind }) => kind);

test("GH-5 problems of an App are reported: clock, permissions, events, its webhook, its key", async () => {
  connections.forget();
  const [forge] = forges;
  await forge.hooks.waitFor(({ event }) => event === "installation");
  expect(await health()).toMatchObject({ name: "Towpath", problems: [], notes: [] });
  const late = await health({ now: new Date(Date.now() + 300_000) });
  expect(late.problems).toMatchObject([{ kind: "clock" }]);
  expect(late.problems[0]?.title).toMatch(
    /^This machine's clock is (299|300|301) s ahead of GitHub at localhost:\d+'s$/,
  );
  expect(await kinds({ instanceUrl: "http://127.0.0.1:9" })).toEqual(["webhooks"]);

  const github = (await connections.find(1))?.github;
  const [delivery] = (await github?.webhookDeliveries())?.deliveries ?? [];
  forge.hooks.answers.push(404);
  await github?.redeliver(delivery?.id ?? 0);
  await expect.poll(() => kinds()).toEqual(["webhooks"]);
  expect((await health()).problems[0]?.title).toMatch(/^1 of the last \d webhooks didn't arrive$/);
  await github?.redeliver(delivery?.id ?? 0);
  await expect.poll(() => kinds()).toEqual([]);

  const [first] = stored as [StoredConnection];
  // GitHub refuses a key that isn't the App's.
  stored = [{ ...first, version: 9, privateKey: forge.gitHubConfig.privateKey }, ...stored.slice(1)];
  connections.forget();
  expect(await kinds()).toEqual(["rejected"]);
  const lacking = { default_permissions: { contents: "read", metadata: "read" }, default_events: ["push"] };
  stored = [{ ...(await make(forge, 1, { lacking })), version: 10 }, ...stored.slice(1)];
  connections.forget();
  expect((await health()).problems.map(({ title }) => title)).toEqual([
    "The App lacks permissions: contents: write, checks: write, deployments: write, pull_requests: write, administration: write, members: read",
    "The App doesn't subscribe to pull_request, delete, repository, check_run",
  ]);
  const elsewhere = `http://localhost:${await freePort()}`;
  stored = [{ ...first, version: 11, url: elsewhere, apiUrl: `${elsewhere}/api/v3` }, ...stored.slice(1)];
  connections.forget();
  const unreachable = await health();
  expect(unreachable.problems[0]?.title).toMatch(/^GitHub at localhost:\d+ can't be asked$/);
  expect(unreachable.problems[0]?.detail).toMatch(/^GitHub at localhost:\d+ can't be reached right now/);
}, 30_000);

test("GH-6 webhooks can't come from elsewhere to this machine, or from the internet into a private network", () => {
  const [github, enterprise] = ["https://github.com", "https://ghe.corp.example.com"];
  for (const instance of ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:3000", "http://x.localhost"]) {
    expect(webhooksMayArrive(github, instance)).toBe(false);
    expect(webhooksMayArrive(enterprise, instance)).toBe(false);
    expect(webhooksMayArrive("http://localhost:8090", instance)).toBe(true);
  }
  for (const instance of [
    "https://10.1.2.3",
    "https://192.168.0.9",
    "https://172.20.1.1",
    "https://100.64.0.1",
    "https://[fd00::1]",
    "https://towpath.local",
    "https://towpath.internal",
    "https://towpath",
  ]) {
    expect([instance, webhooksMayArrive(github, instance)]).toEqual([instance, false]);
    expect(webhooksMayArrive("https://acme.ghe.com", instance)).toBe(false);
    expect(webhooksMayArrive(enterprise, instance)).toBe(true);
  }
  expect(webhooksMayArrive(github, "https://towpath.acme.com")).toBe(true);
  expect(webhooksMayArrive(github, "https://8.8.8.8")).toBe(true);
  const manifest = (instanceUrl: string) =>
    appManifest({ url: github, instanceUrl, name: "Towpath", returnPath: "/a", webhookPath: "/b" });
  expect(manifest("http://localhost:3000")).not.toHaveProperty("hook_attributes");
  expect(manifest("https://towpath.acme.com")).toMatchObject({
    hook_attributes: { url: "https://towpath.acme.com/b", active: true },
    redirect_url: "https://towpath.acme.com/a",
  });
});
