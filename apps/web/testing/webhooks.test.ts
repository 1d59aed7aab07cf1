import { generateKeyPairSync } from "node:crypto";
import { signWebhook } from "@towpath/github";
import { expect, test } from "vitest";
import { openSite } from "./site.ts";

const secret = "a webhook secret for tests";

const site = openSite(() => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    GITHUB_APP_ID: "1",
    GITHUB_APP_SLUG: "towpath-test",
    GITHUB_APP_PRIVATE_KEY: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    GITHUB_CLIENT_ID: "client",
    GITHUB_CLIENT_SECRET: "client secret",
    GITHUB_WEBHOOK_SECRET: secret,
    GITHUB_URL: "http://localhost:1",
    GITHUB_API_URL: "http://localhost:1/api/v3",
  };
});

// Parsing and serializing this body changes its spacing, and so its signature.
const body = '{"ref":"refs/heads/main",  "after": "0000", "name": "\\u00e9"}';

const send = (id: string, more: { signature?: string | null; body?: string; event?: string } = {}) => {
  const signature = more.signature === undefined ? signWebhook(secret, more.body ?? body) : more.signature;
  return fetch(`${site.url}/api/github/webhooks`, {
    method: "POST",
    body: more.body ?? body,
    headers: {
      "content-type": "application/json",
      "x-github-delivery": id,
      "x-github-event": more.event ?? "push",
      ...(signature === null ? {} : { "x-hub-signature-256": signature }),
    },
  });
};

const traces = async (id: string) => {
  const stored = await site.pool.query("SELECT 1 FROM webhook_delivery WHERE id = $1", [id]);
  const jobs = await site.pool.query("SELECT 1 FROM pgboss.job WHERE data ->> 'deliveryId' = $1", [id]);
  return { stored: stored.rowCount, jobs: jobs.rowCount };
};

test("BLD-12 a delivery with the right signature is stored, enqueued and acknowledged at once", async () => {
  const before = performance.now();
  const response = await send("delivery-1");
  expect([response.status, await response.json()]).toEqual([202, { duplicate: false }]);
  // GitHub gives up after ten seconds.
  expect(performance.now() - before).toBeLessThan(10_000);
  expect(await traces("delivery-1")).toEqual({ stored: 1, jobs: 1 });
});

test("BLD-12 a repeated delivery has no effect", async () => {
  await send("delivery-2");
  const again = await send("delivery-2");
  expect([again.status, await again.json()]).toEqual([202, { duplicate: true }]);
  expect(await traces("delivery-2")).toEqual({ stored: 1, jobs: 1 });
});

test.each([
  ["by another secret", () => signWebhook("another secret altogether", body)],
  ["of another body", () => signWebhook(secret, '{"ref":"refs/heads/main"}')],
  ["of the reserialized body", () => signWebhook(secret, JSON.stringify(JSON.parse(body)))],
  ["that is missing", () => null],
  ["that is empty", () => ""],
  ["by SHA-1", () => signWebhook(secret, body).replace("sha256=", "sha1=")],
  ["without its prefix", () => signWebhook(secret, body).slice("sha256=".length)],
  ["cut short", () => signWebhook(secret, body).slice(0, -2)],
])("BLD-12 a delivery with a signature %s gets 401 and leaves no trace", async (_, signature) => {
  const id = `refused-${crypto.randomUUID()}`;
  expect((await send(id, { signature: signature() })).status).toBe(401);
  expect(await traces(id)).toEqual({ stored: 0, jobs: 0 });
});

test("BLD-12 a signed body that is not a JSON object and an invalid delivery id are refused and leave no trace", async () => {
  for (const faulty of ["[1]", "{", "text"]) expect((await send("faulty-1", { body: faulty })).status).toBe(422);
  expect((await send("../faulty 2")).status).toBe(422);
  expect(await traces("faulty-1")).toEqual({ stored: 0, jobs: 0 });
});

test("BLD-8 GH-1 events of check runs and of renamed repositories are stored too", async () => {
  for (const event of ["check_run", "repository"]) {
    expect((await send(`delivery-${event}`, { event })).status).toBe(202);
    expect(await traces(`delivery-${event}`)).toEqual({ stored: 1, jobs: 1 });
  }
});

test("BLD-12 events that Towpath does not act on are acknowledged and not stored", async () => {
  expect((await send("ping-1", { event: "ping" })).status).toBe(204);
  expect(await traces("ping-1")).toEqual({ stored: 0, jobs: 0 });
});
