import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { UsageError } from "../terminal/terminal.ts";
import { collectPrinted, type Printed } from "../testing/printed.ts";
import { startStandIn } from "../testing/stand-in.ts";
import { github } from "./github.ts";

const nothing = { owner: null, createdAt: null, accounts: [], suspended: [], servers: [], problems: [], notes: [] };
const app = { ...nothing, id: "11111111-1111-4111-8111-111111111111", host: "GitHub", slug: "towpath-acme" };
const clock = { title: "The clock is wrong", detail: "Set it.", url: "https://github.com/settings/apps/towpath-acme" };

let directory = "";
let close = async () => {};
let apps: object[] = [];
let printed: Printed;
let asked: unknown[] = [];

beforeEach(async () => {
  [asked, apps] = [[], []];
  printed = collectPrinted();
  ({ directory, close } = await startStandIn((request, response) => {
    if (request.method !== "GET") asked.push([request.method, request.url, request.headers.authorization]);
    response.end(JSON.stringify(request.method === "GET" ? apps : app));
  }));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await close();
});

const run = (...args: string[]) => github([...args, "--data-dir", directory]);

test("GH-5 OPS-4 github lists each App with its accounts, servers, problems and remedies", async () => {
  expect(await run()).toBe(0);
  expect(printed.text).toBe("This instance has no GitHub App. towpath github connect makes one.\n");
  printed.text = "";
  const used = { accounts: ["ada", "acme"], suspended: ["acme"], servers: ["echo-one"] };
  apps = [
    { ...app, ...used, owner: "ada", problems: [clock] },
    { ...app, id: null, notes: ["It sends no webhooks."] },
  ];
  expect(await run("list")).toBe(0);
  const [first = "", second = ""] = printed.text.split("\n\n");
  expect(first).toMatch(/^towpath-acme {2}needs attention {2}GitHub · owned by ada · set by the environment\n/);
  expect(first).toContain("  accounts  ada, acme (has suspended the App)\n  servers   echo-one\n");
  expect(first).toContain("  ! The clock is wrong\n    What to do: Set it.\n    https://github.com/settings/apps/");
  expect(second).toMatch(/works[\s\S]*servers {3}none\n {2}It sends no webhooks\.\n$/);
});

test("GH-5 OPS-4 an App is changed by its name, or its id where hosts have one of the same name; the environment's isn't", async () => {
  apps = [app];
  expect(await run("rotate", "towpath-acme", "webhook-secret")).toBe(0);
  expect(await run("remove", "towpath-acme", "--yes", "towpath-acme")).toBe(0);
  const path = `/api/v1/github-apps/${app.id}`;
  const token = "Bearer tpo_of-this-test";
  expect(asked).toEqual([
    ["POST", `${path}/webhook-secret`, token],
    ["DELETE", `${path}?confirm=towpath-acme`, token],
  ]);
  await expect(run("remove", "towpath-acne", "--yes", "x")).rejects.toThrow("Did you mean towpath-acme?");
  await expect(run("remove", "towpath-acme", "--yes", "x")).rejects.toThrow("x is not towpath-acme. Nothing was");
  apps = [app, { ...app, id: "22222222-2222-4222-8222-222222222222", host: "GitHub at git.example" }];
  await expect(run("rotate", "towpath-acme", "webhook-secret")).rejects.toThrow(
    /by its id:\n {2}1{8}-.* {2}GitHub\n {2}2{8}-.* {2}GitHub at git\.example$/,
  );
  expect(await run("rotate", "22222222-2222-4222-8222-222222222222", "webhook-secret")).toBe(0);
  apps = [{ ...app, id: null }];
  await expect(run("rotate", "towpath-acme", "webhook-secret")).rejects.toThrow(/set by the environment.*then restart/);
  expect(asked).toHaveLength(3);
});

test("GH-5 OPS-4 github says how it is used before it asks the instance", async () => {
  for (const [args, text] of [
    [["conect"], "conect is not list, connect, rotate or remove. Did you mean connect?"],
    [["rotate"], "Name the App: towpath github rotate APP."],
    [["rotate", "app"], "Name what to replace: private-key, client-secret or webhook-secret."],
    [["rotate", "app", "privat-key"], "Did you mean private-key?"],
    [["list", "app"], "app is too much for list."],
    [["remove", "app", "more"], "more is too much for remove."],
    [["--yes", "app"], "--yes is for remove only."],
  ] as const) {
    const refused = await github([...args]).catch((error: unknown) => error);
    expect([args, refused]).toEqual([args, expect.any(UsageError)]);
    expect(String(refused)).toContain(text);
  }
});
