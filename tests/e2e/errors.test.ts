import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type ErrorPage, errorPageSchema } from "@towpath/core/operations/error-group/schema";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { towpath } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";

const dataDirectory = inject("dataDirectory");
const name = `errors-${process.pid}`;
let directory: string;

const server = (body: string) => `import os
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("Errors")
prices = {"oslo": 3}


def price_of(city: str) -> int:
${body}


@mcp.tool
def price(city: str) -> int:
    return price_of(city)


@mcp.tool
def refuse(order: int) -> str:
    raise ToolError(f"Order {order} is closed")


@mcp.tool
def crash() -> str:
    os._exit(3)
`;
const first = server("    return prices[city]");
/** The same raise, some lines further down. */
const moved = server("    # Cities are in lower case.\n    city = city.strip()\n    return prices[city]");

const run = (...args: string[]) => towpath(...args, "--data-dir", dataDirectory);
const deploy = async (source: string) => {
  await writeFile(join(directory, "server.py"), source);
  const { status, stderr } = await run("deploy", directory, "--name", name, "--public");
  expect(status, stderr).toBe(0);
};

async function call(tool: string, args: Record<string, unknown>): Promise<void> {
  const client = new Client({ name: "shopper", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${inject("serversUrl")}/${name}/mcp`)));
  await client.callTool({ name: tool, arguments: args }).catch(() => {});
  await client.close().catch(() => {});
}

async function errors(...options: string[]): Promise<ErrorPage> {
  const { stdout } = await run("errors", name, ...options, "--json");
  return errorPageSchema.parse(JSON.parse(stdout));
}
/** Failures by tool, once the worker has grouped as many as expected. */
async function expectFailures(expected: Readonly<Record<string, number>>): Promise<ErrorPage> {
  const counts = async () => Object.fromEntries((await errors()).data.map(({ target, count }) => [target, count]));
  await expect.poll(counts, { timeout: 60_000, interval: 1000 }).toEqual(expected);
  return errors();
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-errors-"));
  await writeFile(join(directory, "requirements.txt"), "fastmcp>=2,<3\n");
  await deploy(first);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test("CAP-6 calls to a real FastMCP server become errors by tool, exception and own frame; the caller's mistakes don't", async () => {
  await call("price", { city: "nowhere" });
  await call("price", { city: "elsewhere" });
  await call("price", { city: "oslo" });
  await call("price", { town: "oslo" });
  await call("prize", {});
  for (const order of [1, 2]) await call("refuse", { order });
  const { data } = await expectFailures({ price: 2, refuse: 2 });
  expect(data.find(({ target }) => target === "price")).toMatchObject({
    title: "KeyError: 'elsewhere'",
    exception: "KeyError",
    frame: { file: "server.py", line: 10, name: "price_of" },
    state: "open",
  });
});

test.runIf(isThorough)(
  "CAP-6 a resolved error stays so until a newer deployment fails alike, wherever its lines are now",
  async () => {
    const error = (await errors("--tool", "price")).data[0];
    const id = error?.id ?? "";
    expect((await run("errors", name, "resolve", id)).stdout).toContain("1 error is resolved now.");
    await deploy(moved);
    await call("price", { city: "nowhere" });
    const back = async () =>
      (await errors("--tool", "price")).data.map(({ id, isBack, frame }) => [id, isBack, frame?.line]);
    await expect.poll(back, { timeout: 60_000, interval: 1000 }).toEqual([[id, true, 12]]);
    const shown = (await run("errors", name, "show", id)).stdout;
    for (const part of ["back again", "server.py:12 in price_of", "shopper (3)"]) expect(shown).toContain(part);
  },
);

test.runIf(isThorough)("CAP-6 a crash during a call is an error of its tool, with its reason", async () => {
  await call("crash", {});
  const crashes = async () => (await errors("--tool", "crash")).data.map(({ title }) => title);
  await expect
    .poll(crashes, { timeout: 60_000, interval: 1000 })
    .toEqual(["The server crashed: it exited with status 3"]);
});
