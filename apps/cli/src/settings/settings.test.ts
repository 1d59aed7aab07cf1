import { rm } from "node:fs/promises";
import { shortDirectory } from "@towpath/runtime/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { parse } from "../commands/parse.ts";
import { parseDeployOptions } from "../deploy/options.ts";
import { collectPrinted } from "../testing/printed.ts";
import { startStandIn } from "../testing/stand-in.ts";
import { authModeOf } from "./auth-mode.ts";
import { changesOf, settings } from "./settings.ts";

const none = { public: false, private: false };

test("PRJ-12 OPS-4 the terminal takes each auth mode, one at a time, and says which there are", async () => {
  expect(authModeOf(none)).toBeUndefined();
  expect(authModeOf({ ...none, public: true })).toBe("towpath-public");
  expect(authModeOf({ ...none, private: true })).toBe("towpath-cloud");
  for (const auth of ["towpath-cloud", "towpath-public", "passthrough"])
    expect(authModeOf({ ...none, auth })).toBe(auth);
  expect(() => authModeOf({ ...none, auth: "oauth" })).toThrow(/passthrough \(the server decides\), not oauth\.$/);
  expect(() => authModeOf({ ...none, auth: "passthrough", public: true })).toThrow("Pass only one of");
  const directory = await shortDirectory();
  const deployed = parseDeployOptions([directory, "--name", "my-server-one", "--auth", "passthrough"]);
  expect([deployed.authMode, deployed.rootDirectory]).toEqual(["passthrough", undefined]);
  const part = parseDeployOptions([directory, "--name", "my-server-one", "--root-directory", "servers/one"]);
  expect(part.rootDirectory).toBe("servers/one");
  await rm(directory, { recursive: true });
});

test("BLD-16 OPS-4 the terminal takes a program's arguments as one text; without an entrypoint each commit's is found", async () => {
  const directory = await shortDirectory();
  const parse = (...args: string[]) => parseDeployOptions([directory, "--name", "my-server-one", ...args]);
  expect(parse()).toMatchObject({ entrypoint: undefined, arguments: undefined });
  expect(parse("--args=--db-path ':memory: x' stdio").arguments).toEqual(["--db-path", ":memory: x", "stdio"]);
  expect(parse("--args=", "--entrypoint=")).toMatchObject({ entrypoint: "", arguments: [] });
  expect(() => parse("--args='open")).toThrow("A quote is not closed");
  await rm(directory, { recursive: true });
});

test("OPS-4 settings asks for one server, and for an instance that runs", async () => {
  await expect(settings([])).rejects.toThrow("Usage: towpath settings NAME");
  await expect(settings(["one", "two"])).rejects.toThrow("Usage: towpath settings NAME");
  const directory = await shortDirectory();
  await expect(settings(["one", "--data-dir", directory])).rejects.toThrow("No Towpath runs");
  await rm(directory, { recursive: true });
});

test("OPS-4 BLD-17 settings says whether newer versions of a package are deployed, and nothing that wasn't asked for", () => {
  const changed = (...args: string[]) => changesOf(parse("settings", ["my-server-one", ...args]).values).changes;
  expect(changed("--follow")).toMatchObject({ followsPackage: true });
  expect(changed("--no-follow", "--no-keep-data")).toMatchObject({ followsPackage: false, keepsData: false });
  expect(Object.values(changed()).filter((value) => value !== undefined)).toEqual([]);
});

test("OPS-4 settings says what changed, and calls an entrypoint found only if none was set", async () => {
  let project = {
    name: "my-server",
    url: "http://localhost/my-server/mcp",
    authMode: "towpath-cloud",
    entrypoint: "",
    arguments: [],
    requirements: null,
    rootDirectory: null,
    watchPaths: [],
    failOnBreakingChanges: false,
    keepsData: false,
    ownSignIn: null,
    package: null,
  };
  let live = "server.py:mcp";
  const { directory, close } = await startStandIn(async (request, response) => {
    if (request.method === "PATCH") {
      const { entrypoint } = JSON.parse(await new Response(request).text());
      project = { ...project, entrypoint: entrypoint ?? "" };
    }
    const answers = [
      { path: "/api/v1/projects/my-server", body: project },
      { path: "/api/v1/projects/my-server/status", body: { live: { buildId: "one" } } },
      { path: "/api/v1/builds/one", body: { build: { entrypoint: live } } },
    ];
    response.end(JSON.stringify(answers.find(({ path }) => path === request.url)?.body));
  });
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await close();
  });
  const printed = collectPrinted();
  const show = async (...args: string[]) => {
    printed.text = "";
    expect(await settings(["my-server", ...args, "--data-dir", directory])).toBe(0);
    return printed.text;
  };
  expect(await show()).toMatch(/entrypoint +server\.py:mcp \(found automatically\)\n/);
  expect(await show("--entrypoint", "main.py")).toContain(
    "✓ entrypoint: server.py:mcp (found automatically) → main.py\n",
  );
  live = "main.py";
  expect(await show("--entrypoint", "main.py")).toContain("Nothing changed");
  // The next build finds one; the live version's was set.
  const unset = await show("--entrypoint=");
  expect(unset).toContain("✓ entrypoint: main.py → found automatically\n");
  expect(unset).not.toContain("main.py (found");
});
