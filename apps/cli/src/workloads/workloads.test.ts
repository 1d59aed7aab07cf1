import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startStandIn } from "../testing/stand-in.ts";
import { workloads } from "./workloads.ts";

const identity = {
  id: "0198f6a0-0000-7000-8000-000000000000",
  name: "Agents",
  issuer: "https://cluster.test",
  subjects: ["system:serviceaccount:agents:*"],
  servers: null,
  status: "active",
  problem: "https://cluster.test answered with HTTP 503.",
  lastUsedAt: null,
};

test("KEY-6 the terminal lists, adds, revokes and removes workload identities of its key's organization", async () => {
  const asked: string[] = [];
  const standIn = await startStandIn(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    const isCaller = request.url === "/api/v1/caller";
    if (!isCaller) asked.push(`${request.method} ${request.url} ${body}`.trim());
    response.writeHead(200, { "content-type": "application/json" });
    const found = request.method === "GET" ? [identity] : identity;
    response.end(JSON.stringify(isCaller ? { organization: { slug: "acme" } } : found));
  });
  const printed: string[] = [];
  const log = vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
  onTestFinished(async () => {
    log.mockRestore();
    await standIn.close();
  });
  const run = (...args: string[]) => workloads([...args, "--data-dir", standIn.directory]);
  expect(await run()).toBe(0);
  expect(printed.join("")).toMatch(/Agents {2}https:\/\/cluster\.test {2}active, never used/);
  expect(printed.join("")).toContain("answered with HTTP 503");
  const ca = join(standIn.directory, "ca.crt");
  await writeFile(ca, "PEM");
  const added = ["--name", "Agents", "--issuer", identity.issuer, "--subject", "a:*", "--subject", "b:*"];
  expect(await run("add", ...added, "--server", "weather", "--ca", ca)).toBe(0);
  for (const action of ["revoke", "remove"]) expect(await run(action, identity.id)).toBe(0);
  await run("list", "--organization", "other");
  const path = "/api/v1/organizations/acme/workload-identities";
  const body = { name: "Agents", issuer: identity.issuer, subjects: ["a:*", "b:*"], servers: ["weather"] };
  expect(asked).toEqual([
    `GET ${path}`,
    `POST ${path} ${JSON.stringify({ ...body, jwksUrl: null, keySet: null, ca: "PEM" })}`,
    `POST ${path}/${identity.id}/revoke`,
    `DELETE ${path}/${identity.id}`,
    "GET /api/v1/organizations/other/workload-identities",
  ]);
  await expect(run("ad")).rejects.toThrow("ad is not list, add, revoke or remove. Did you mean add?");
  await expect(run("add", "--name", "x")).rejects.toThrow("Say whose tokens");
  await expect(run("revoke")).rejects.toThrow("Name it by its id");
  await expect(run("list", "x")).rejects.toThrow("x is too much for list");
  await expect(run("add", ...added, "--key-set", "missing.json")).rejects.toThrow("missing.json can't be read");
});
