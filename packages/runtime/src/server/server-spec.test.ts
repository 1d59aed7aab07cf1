import { expect, test } from "vitest";
import { cloudEnvironment } from "./cloud-environment.ts";
import { serverSandboxSpec } from "./server-spec.ts";

const python = {
  version: "3.11.7",
  executable: "/host/python/bin/python3.11",
  prefix: "/host/python",
  insideExecutable: "/opt/python/bin/python3.11",
  env: {},
};
const input = {
  python,
  dependencies: "/data/deps",
  code: "/data/code",
  harness: "/platform/harness",
  entrypoint: "-odd.py:mcp",
  limits: { memoryBytes: 1, processes: 1, cpus: 1, tmpBytes: 1 },
};

test("RUN-4 the server's environment: secrets, and what a secret cannot forge", () => {
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
  const { env } = serverSandboxSpec({ ...input, environment });
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

test("layers are read-only, and an entrypoint that begins with a dash stays an argument", () => {
  const spec = serverSandboxSpec({ ...input, environment: {} });
  expect(spec.mounts.every((mount) => !mount.writable)).toBe(true);
  expect(spec.argv).toContain("--entrypoint=-odd.py:mcp");
});

test("BLD-5 a repository with a types.py of its own does not end Python before the harness begins", () => {
  const { env } = serverSandboxSpec({ ...input, environment: { PYTHONSAFEPATH: "" } });
  expect(env.PYTHONSAFEPATH).toBe("1");
});
