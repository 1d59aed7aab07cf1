import { type ErrorDetail, errorPageSchema } from "@towpath/core/operations/error-group/schema";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { collectPrinted, type Printed } from "../testing/printed.ts";
import { startStandIn } from "../testing/stand-in.ts";
import { errors } from "./errors.ts";

const id = "0199a000-0000-7000-8000-000000000001";
const error: ErrorDetail = {
  id,
  title: "KeyError: 'x\u001b[2J'",
  exception: "KeyError",
  method: "tools/call",
  target: "forecast",
  frame: { file: "server.py", line: 41, name: "forecast" },
  state: "open",
  isBack: true,
  isOverflow: false,
  count: 12,
  firstSeen: "2026-11-20T10:00:00.000Z",
  lastSeen: "2026-11-21T10:00:00.000Z",
  openedAt: "2026-11-20T10:00:00.000Z",
  resolvedAt: null,
  firstDeploymentId: "0199a000-0000-7000-8000-000000000002",
  lastDeploymentId: null,
  lastDay: [...Array(23).fill(0), 4],
  lastMonth: Array(30).fill(0),
  callers: [{ name: "anonymous", count: 12 }],
  hasMoreCallers: true,
  clients: [],
  hasMoreClients: false,
  samples: [{ id, time: "2026-11-21T10:00:00.000Z" }],
};
const page = { data: [error], total: 3, counts: { open: 3, resolved: 0, ignored: 0 }, tools: ["forecast"] };

let directory = "";
let close = async () => {};
let printed: Printed;
let asked: string[];
beforeEach(async () => {
  asked = [];
  printed = collectPrinted();
  ({ directory, close } = await startStandIn(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    asked.push(`${request.method} ${request.url} ${body}`.trim());
    const answer = request.method === "PATCH" ? { changed: 2 } : request.url?.endsWith(id) ? error : page;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await close();
});
const run = (...args: string[]) => errors(["weather", ...args, "--data-dir", directory]);
const path = "/api/v1/projects/weather/errors";

test("CAP-6 OPS-4 `errors` lists errors with tool, line and counts, by state, tool, text and order", async () => {
  expect(await run()).toBe(0);
  expect(printed.text).toContain("back again KeyError: 'x [2J'");
  expect(printed.text).toMatch(/forecast {2}server\.py:41 in forecast {2}12 × since /);
  expect(printed.text).toContain(id);
  expect(printed.text).toContain("2 more.");
  await run("list", "--state", "all", "--tool", "forecast", "--search", "a b", "--sort", "count");
  expect(asked).toEqual([`GET ${path}?`, `GET ${path}?state=all&tool=forecast&search=a+b&sort=count`]);
  printed.text = "";
  await run("--json");
  expect(JSON.parse(printed.text)).toEqual(errorPageSchema.parse(page));
});

test("CAP-6 OPS-4 `errors NAME show` shows one, and resolve, ignore and reopen change several", async () => {
  expect(await run("show", id)).toBe(0);
  for (const part of ["server.py:41 in forecast", "12, 4 of them in the last 24 hours", "anonymous (12) and others"])
    expect(printed.text).toContain(part);
  expect(printed.text).not.toContain("Clients");
  for (const action of ["resolve", "ignore", "reopen"]) expect(await run(action, id, "other")).toBe(0);
  expect(printed.text).toContain("2 errors are resolved now.");
  expect(asked).toEqual([
    `GET ${path}/${id}`,
    ...["resolved", "ignored", "open"].map((state) => `PATCH ${path} {"ids":["${id}","other"],"state":"${state}"}`),
  ]);
});

test("CAP-6 OPS-4 `errors` says what to write instead", async () => {
  await expect(run("reslove", id)).rejects.toThrow(/is not list, show.*Did you mean resolve\?/);
  await expect(run("resolve")).rejects.toThrow("Name the error by its id: towpath errors NAME resolve ID.");
  await expect(run("list", id)).rejects.toThrow("is too much for list");
  await expect(run("show", id, id)).rejects.toThrow("Name one error");
});
