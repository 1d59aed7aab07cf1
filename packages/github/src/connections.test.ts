import { generateKeyPairSync, randomUUID } from "node:crypto";
import { numberOf } from "@towpath/core/sources/github-connection/numbers";
import { expect, test } from "vitest";
import { createGitHubConnections, type StoredConnection } from "./connections.ts";
import { createGitHubTarget } from "./github-target.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const app = (number: number): StoredConnection => ({
  id: randomUUID(),
  number,
  version: 1,
  appId: "1",
  appSlug: "towpath",
  clientId: "c",
  clientSecret: "s",
  webhookSecret: "w",
  url: "https://github.test",
  apiUrl: "https://github.test/api/v3",
  privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
});

test("GH-5 an App that was connected a moment ago is known to whoever has its number; ids from URLs ask at most so often", async () => {
  let stored: readonly StoredConnection[] = [];
  let reads = 0;
  const connections = createGitHubConnections(null, async () => {
    reads += 1;
    return stored;
  });
  expect(await connections.all()).toEqual([]);
  stored = [app(1)];
  expect(await connections.find(stored[0]?.id ?? "")).toBeNull();
  expect(reads).toBe(1);
  expect((await connections.find(1))?.number).toBe(1);
  expect((await connections.find(stored[0]?.id ?? ""))?.number).toBe(1);
  expect([await connections.find(2), reads]).toEqual([null, 3]);
});

test("GH-5 SRC-3 moving a repository to a typed host uses the checked connection, and checks the push", async () => {
  const account = { id: 1, login: "acme", type: "Organization", avatar_url: "https://github.test/a" };
  const repository = { id: 7, name: "rain", description: null, full_name: "acme/rain", private: true };
  const more = { default_branch: "main", updated_at: null, html_url: "https://github.test/acme/rain", owner: account };
  const asked: string[] = [];
  const reach = async (url: URL, { method }: RequestInit) => {
    asked.push(`${method} ${url.pathname.replace("/api/v3", "")}`);
    if (url.pathname.endsWith("/access_tokens"))
      return Response.json({ token: "t", expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    if (url.pathname.endsWith("/installations/5"))
      return Response.json({
        id: 5,
        account,
        html_url: "https://github.test/i",
        suspended_at: null,
        repository_selection: "all",
      });
    return Response.json({ ...repository, ...more });
  };
  const connections = createGitHubConnections(null, async () => [app(1)], reach);
  const target = createGitHubTarget(connections);
  const installationId = numberOf(1, 5);
  const address = { installationId, owner: "acme", name: "rain" };
  const made = await target.make({ installationId, name: "rain", private: true, userToken: null });
  if (made.kind !== "made") expect.fail(made.kind);
  await target.setDefaultBranch(address, "trunk");
  const remote = await target.remote(address, made.repository);
  expect(remote).toMatchObject({ url: "https://github.test/acme/rain.git", atAnyAddress: false });
  expect(asked.filter((each) => !each.endsWith("/access_tokens"))).toEqual([
    "GET /app/installations/5",
    "POST /orgs/acme/repos",
    "PATCH /repos/acme/rain",
  ]);
});
