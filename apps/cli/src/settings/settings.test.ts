import { rm } from "node:fs/promises";
import { shortDirectory } from "@towpath/runtime/testing";
import { expect, test } from "vitest";
import { parse } from "../commands/parse.ts";
import { parseDeployOptions } from "../deploy/options.ts";
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
