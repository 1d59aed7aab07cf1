import { expect, test } from "vitest";
import { cloudEnvironment } from "../../port/cloud-environment.ts";
import { prewarmedStart, serverSandboxSpec } from "./server-spec.ts";

const files = {
  python: {
    version: "3.11.7",
    executable: "/host/python/bin/python3.11",
    prefix: "/host/python",
    insideExecutable: "/opt/python/bin/python3.11",
    env: { LD_LIBRARY_PATH: "/opt/python/lib" },
  },
  dependencies: "/data/deps",
  code: "/data/code",
  harness: "/platform/harness",
};
const server = {
  layers: { dependencies: "a".repeat(64), code: "b".repeat(64) },
  pythonVersion: "3.11.7",
  entrypoint: "-odd.py:mcp",
  environment: {},
  limits: { memoryBytes: 1, processes: 1, cpus: 1, tmpBytes: 1 },
  network: "internet",
} as const;

test("RUN-1 BLD-16 a server's command has its layers read-only, its program's arguments and nothing of the platform's environment", () => {
  expect(serverSandboxSpec(server, files)).toEqual({
    argv: [
      "/app/.venv/bin/python",
      "-m",
      "towpath_runner",
      "--layer=/app/layer",
      // One argument: an entrypoint that begins with a dash is no option.
      "--entrypoint=-odd.py:mcp",
      "--listen=/run/towpath/mcp.sock",
      "--status=/run/towpath/status.json",
    ],
    env: {
      PATH: "/app/.venv/bin:/usr/local/bin:/usr/bin:/bin",
      HOME: "/home/towpath",
      XDG_CACHE_HOME: "/home/towpath/.cache",
      XDG_CONFIG_HOME: "/home/towpath/.config",
      XDG_DATA_HOME: "/home/towpath/.local/share",
      XDG_STATE_HOME: "/home/towpath/.local/state",
      LANG: "C.UTF-8",
      TMPDIR: "/tmp",
      PYTHONUNBUFFERED: "1",
      PYTHONDONTWRITEBYTECODE: "1",
      LD_LIBRARY_PATH: "/opt/python/lib",
      VIRTUAL_ENV: "/app/.venv",
      PYTHONSAFEPATH: "1",
      PYTHONPATH: "/opt/towpath",
    },
    workingDirectory: "/app/src",
    mounts: [
      { host: "/host/python", inside: "/opt/python", writable: false },
      { host: "/data/deps", inside: "/app/.venv", writable: false },
      { host: "/data/code", inside: "/app/layer", writable: false },
      { host: "/platform/harness", inside: "/opt/towpath", writable: false },
    ],
    scratch: ["/app/src", "/data"],
    limits: { memoryBytes: 1, processes: 1, cpus: 1, tmpBytes: 1 },
    network: "internet",
  });
  const withArguments = { ...server, arguments: ["--db", "-", "a b"] };
  const flags = ["--argument=--db", "--argument=-", "--argument=a b"];
  const isArgument = (word: string) => word.startsWith("--argument=");
  expect(serverSandboxSpec(withArguments, files).argv.filter(isArgument)).toEqual(flags);
  // A prewarmed interpreter becomes the server with the same arguments (BLD-16).
  expect(prewarmedStart(withArguments, files).arguments.filter(isArgument)).toEqual(flags);
  // It must know how long it may take: a program that has to be bridged is started twice in that time.
  const limited = ["--status=/run/towpath/status.json", "--start-seconds=90.5"];
  expect(serverSandboxSpec(server, files, 90_500).argv.slice(-2)).toEqual(limited);
  expect(prewarmedStart(server, files, 90_500).arguments.slice(-2)).toEqual(limited);
  const inspected = serverSandboxSpec({ ...server, inspectable: true }, files, 60_000);
  expect(inspected.argv.at(-1)).toBe("--inspect-path=/-/towpath/inspect");
  const keeping = serverSandboxSpec({ ...server, dataVolume: "p" }, { ...files, data: "/run/volumes/p/data" });
  expect(keeping).toMatchObject({ scratch: ["/app/src"], identity: "data:p" });
  expect(keeping.mounts.at(-1)).toEqual({ host: "/run/volumes/p/data", inside: "/data", writable: true });
});

test("RUN-4 a server's environment has its secrets, which cannot override the platform's variables", () => {
  const facts = {
    serverUrl: "https://echo.example.com",
    commitSha: "abc",
    repository: "someone/echo",
    environment: "preview" as const,
  };
  const environment = cloudEnvironment(facts, {
    TOKEN: "x",
    TOWPATH_CLOUD_ENVIRONMENT: "production",
    PYTHONPATH: "/app/lib",
  });
  const { env } = serverSandboxSpec({ ...server, environment }, files);
  expect(env).toMatchObject({
    TOKEN: "x",
    TOWPATH_CLOUD_URL: "https://echo.example.com",
    TOWPATH_CLOUD_GIT_COMMIT_SHA: "abc",
    TOWPATH_CLOUD_GIT_REPO: "someone/echo",
    TOWPATH_CLOUD_ENVIRONMENT: "preview",
    PYTHONPATH: "/opt/towpath:/app/lib",
  });
  expect(cloudEnvironment({ ...facts, repository: null })).not.toHaveProperty("TOWPATH_CLOUD_GIT_REPO");
});

test("BLD-5 a repository's own types.py does not break Python before the harness starts", () => {
  const { env } = serverSandboxSpec({ ...server, environment: { PYTHONSAFEPATH: "" } }, files);
  expect(env.PYTHONSAFEPATH).toBe("1");
});
