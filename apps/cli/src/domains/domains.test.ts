import { expect, onTestFinished, test, vi } from "vitest";
import { startStandIn } from "../testing/stand-in.ts";
import { domains } from "./domains.ts";

const waiting = {
  domain: "mcp.acme.com",
  url: "https://mcp.acme.com/mcp",
  activeAt: null,
  records: [
    { type: "CNAME", name: "mcp.acme.com", value: "weather.example.com", seenAt: null, problem: "There is none yet." },
    { type: "TXT", name: "_towpath.mcp.acme.com", value: "towpath=abc", seenAt: null, problem: null },
  ],
  checkedAt: null,
};

test("OPS-12 the terminal lists domains with their records, adds, checks and removes them", async () => {
  const asked: string[] = [];
  const standIn = await startStandIn(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    asked.push(`${request.method} ${request.url} ${body}`.trim());
    const isList = request.method === "GET";
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(isList ? { data: [waiting] } : { ...waiting, activeAt: "2026-11-26T12:00:00.000Z" }));
  });
  const printed: string[] = [];
  const log = vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
  onTestFinished(async () => {
    log.mockRestore();
    await standIn.close();
  });
  const run = (...args: string[]) => domains(["weather", ...args, "--data-dir", standIn.directory]);
  expect(await run()).toBe(0);
  const text = printed.join("");
  expect(text).toContain("mcp.acme.com");
  expect(text).toMatch(/TXT {3}_towpath\.mcp\.acme\.com {2}towpath=abc/);
  expect(text).toContain("There is none yet.");
  for (const action of ["add", "check", "remove"]) expect(await run(action, "mcp.acme.com")).toBe(0);
  const path = "/api/v1/projects/weather/domains";
  expect(asked).toEqual([
    `GET ${path}`,
    `POST ${path} {"domain":"mcp.acme.com"}`,
    `POST ${path}/mcp.acme.com/check`,
    `DELETE ${path}/mcp.acme.com`,
  ]);
  await expect(run("ad", "x.com")).rejects.toThrow("ad is not list, add, check or remove. Did you mean add?");
  await expect(run("add")).rejects.toThrow("Name the domain: towpath domains NAME add DOMAIN");
  await expect(run("list", "x.com")).rejects.toThrow("x.com is too much for list");
});
