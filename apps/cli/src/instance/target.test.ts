import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterEach, expect, test, vi } from "vitest";
import { findDataDirectory, openDataDirectory, rememberDataDirectory, startTimeOf } from "./instance.ts";
import { originOf, targetOf } from "./target.ts";

afterEach(() => vi.unstubAllEnvs());

test("OPS-4 when CI sets only one of its two variables, the error names the missing one", async () => {
  for (const name of ["TOWPATH_DATA_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"]) vi.stubEnv(name, "/nonexistent");
  const asked = async (url: string, key: string) => {
    vi.stubEnv("TOWPATH_URL", url);
    vi.stubEnv("TOWPATH_API_KEY", key);
    return targetOf(undefined).catch((error: Error) => error.message.split("\n").at(-1));
  };
  const [url, key] = ["https://towpath.example.com", "tp_x"];
  expect(await asked(url, key)).toEqual({ url, token: key, isLocal: false });
  expect(await asked(url, "")).toMatch(/towpath login URL, or both variables. TOWPATH_URL is set, but TOWPATH_API_KEY/);
  expect(await asked("", key)).toMatch(/TOWPATH_API_KEY is set, but TOWPATH_URL isn't\.$/);
  expect(await asked("", "")).toBe("For an instance elsewhere: towpath login URL");
});

test("OPS-4 commands find the data directory of the last `up` without --data-dir, while it exists", async () => {
  const home = await shortDirectory();
  vi.stubEnv("TOWPATH_DATA_DIR", undefined);
  for (const name of ["XDG_DATA_HOME", "XDG_STATE_HOME"]) vi.stubEnv(name, home);
  const usual = join(home, "towpath");
  expect(findDataDirectory(undefined)).toBe(usual);
  const chosen = join(home, "chosen");
  await openDataDirectory(chosen);
  await rememberDataDirectory(chosen);
  expect(findDataDirectory(undefined)).toBe(chosen);
  expect(findDataDirectory(home)).toBe(home);
  // An instance running in the default directory comes first.
  await mkdir(usual, { recursive: true });
  const running = {
    pid: process.pid,
    startTime: startTimeOf(process.pid),
    url: "http://localhost:1",
    serverUrl: "x://{name}",
  };
  await writeFile(join(usual, "running.json"), JSON.stringify(running));
  expect(findDataDirectory(undefined)).toBe(usual);
  await rm(join(usual, "running.json"));
  await rm(chosen, { recursive: true });
  expect(findDataDirectory(undefined)).toBe(usual);
  await rm(home, { recursive: true });
});

test("OPS-4 a key goes over TLS or stays on this machine: other addresses are refused, with what to do", () => {
  for (const [address, origin] of [
    ["towpath.example.com", "https://towpath.example.com"],
    ["https://towpath.example.com/acme/servers", "https://towpath.example.com"],
    ["http://localhost:3000", "http://localhost:3000"],
    ["http://weather.localhost:8080", "http://weather.localhost:8080"],
    ["http://127.0.0.1:3000", "http://127.0.0.1:3000"],
    ["http://127.1:3000", "http://127.0.0.1:3000"],
    ["http://[::1]:3000", "http://[::1]:3000"],
  ] as const) {
    expect(originOf(address)).toBe(origin);
  }
  for (const address of [
    "http://towpath.example.com",
    "http://10.0.0.5:3000",
    "http://127.example.com",
    "http://127.0.0.1.example.com",
    "http://localhost.example.com",
    "http://[::2]:3000",
  ]) {
    expect(() => originOf(address), address).toThrow(/has no TLS.*Use https:\/\/.*ssh -N -L/);
  }
  for (const address of ["ftp://towpath.example.com", "ht!tp://x", "https://", ""]) {
    expect(() => originOf(address), address).toThrow("is not the address of an instance");
  }
  expect(() => originOf("https://ada:secret@example.com")).toThrow("must not contain a name or password");
});
