import { expect, onTestFinished, test, vi } from "vitest";
import { startStandIn } from "../testing/stand-in.ts";
import { signInIssuers } from "./sign-in-issuers.ts";

const issuer = {
  id: "0198f6a0-0000-7000-8000-000000000000",
  name: "Okta",
  issuer: "https://acme.okta.test",
  matchesEmail: true,
  problem: "https://acme.okta.test answered with HTTP 503.",
  lastUsedAt: null,
};

test("CAP-3 the terminal lists, adds and removes the identity providers of its key's organization", async () => {
  const asked: string[] = [];
  const standIn = await startStandIn(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    const isCaller = request.url === "/api/v1/caller";
    if (!isCaller) asked.push(`${request.method} ${request.url} ${body}`.trim());
    response.writeHead(200, { "content-type": "application/json" });
    const found = request.method === "GET" ? [issuer] : issuer;
    response.end(JSON.stringify(isCaller ? { organization: { slug: "acme" } } : found));
  });
  const printed: string[] = [];
  const log = vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
  onTestFinished(async () => {
    log.mockRestore();
    await standIn.close();
  });
  const run = (...args: string[]) => signInIssuers([...args, "--data-dir", standIn.directory]);
  expect(await run()).toBe(0);
  expect(printed.join("")).toMatch(/Okta {2}https:\/\/acme\.okta\.test {2}never used/);
  expect(printed.join("")).toContain("or by verified email");
  expect(printed.join("")).toContain("answered with HTTP 503");
  const added = ["--name", "Okta", "--issuer", issuer.issuer];
  expect(await run("add", ...added)).toBe(0);
  expect(await run("add", ...added, "--match-email")).toBe(0);
  expect(await run("remove", issuer.id)).toBe(0);
  await run("list", "--organization", "other");
  const path = "/api/v1/organizations/acme/sign-in-issuers";
  const body = { name: "Okta", issuer: issuer.issuer };
  expect(asked).toEqual([
    `GET ${path}`,
    `POST ${path} ${JSON.stringify({ ...body, matchesEmail: false })}`,
    `POST ${path} ${JSON.stringify({ ...body, matchesEmail: true })}`,
    `DELETE ${path}/${issuer.id}`,
    "GET /api/v1/organizations/other/sign-in-issuers",
  ]);
  await expect(run("ad")).rejects.toThrow("ad is not list, add or remove. Did you mean add?");
  await expect(run("add", "--name", "x")).rejects.toThrow("Say whose assertions");
  await expect(run("remove")).rejects.toThrow("Name it by its id");
  await expect(run("list", "x")).rejects.toThrow("x is too much for list");
});
