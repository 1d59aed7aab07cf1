import { generateKeyPairSync, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createGitHubConnections, type StoredConnection } from "./connections.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const app = (number: number): StoredConnection => ({
  ...{ id: randomUUID(), number, version: 1, appId: "1", appSlug: "towpath", clientId: "c", clientSecret: "s" },
  ...{ webhookSecret: "w", url: "https://github.test", apiUrl: "https://github.test/api/v3" },
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
