import { expect, test } from "vitest";
import { type BuildStep, type BuildVolume, buildImage } from "../../port/builds.ts";
import { pickBuildEnvironment } from "../config.ts";
import { type StepFiles, stepSandboxSpec } from "./step-spec.ts";

const files: StepFiles = {
  python: {
    version: "3.11.7",
    executable: "/usr/bin/python3.11",
    prefix: "/usr",
    insideExecutable: "/opt/python/bin/python3.11",
    env: {},
  },
  uv: "/usr/bin/uv",
  volumes: { source: "/s/source", dependencies: "/s/deps", cache: "/data/cache/uv/org-1" } as Record<
    BuildVolume,
    string
  >,
  environment: { UV_DEFAULT_INDEX: "https://index.example/simple", SSL_CERT_FILE: "/etc/own-ca.pem" },
  clones: false,
};
const limits = { memoryBytes: 1, processes: 1, cpus: 1, tmpBytes: 1, fileBytes: 2 };
const build = { buildId: "b", organizationId: "org-1", limits, diskBytes: 1, freeBytes: 1 };
const step: BuildStep = {
  argv: [buildImage.uv, "--version"],
  pythonVersion: "3.11.7",
  volumes: [
    { volume: "source", subPath: "servers/one", path: buildImage.code, access: "read" },
    { volume: "dependencies", path: buildImage.dependencies, access: "write" },
    { volume: "cache", path: buildImage.cache, access: "write" },
  ],
  network: "internet",
};

test("RUN-1 a build step sees its own volumes, one user per organization, the operator's index and certificates", () => {
  const { mounts, env, ...spec } = stepSandboxSpec(step, build, files);
  expect(spec).toEqual({
    argv: ["/opt/uv/uv", "--version"],
    workingDirectory: "/app/src",
    limits,
    network: "internet",
    identity: "build:org-1",
  });
  expect(mounts).toEqual([
    { host: "/usr", inside: "/opt/python", writable: false },
    { host: "/usr/bin/uv", inside: "/opt/uv/uv", writable: false },
    { host: expect.stringMatching(/\/layer\.py$/), inside: "/opt/towpath-build/layer.py", writable: false },
    { host: expect.stringMatching(/\/uv\.toml$/), inside: "/etc/uv/uv.toml", writable: false },
    { host: "/etc/own-ca.pem", inside: "/etc/ssl/towpath-operator.pem", writable: false },
    { host: "/s/source/servers/one", inside: "/app/src", writable: false },
    { host: "/s/deps", inside: "/app/.venv", writable: true },
    { host: "/data/cache/uv/org-1", inside: "/cache/uv", writable: true },
  ]);
  expect(env).toMatchObject({
    UV_DEFAULT_INDEX: "https://index.example/simple",
    SSL_CERT_FILE: "/etc/ssl/towpath-operator.pem",
    UV_LINK_MODE: "copy",
    UV_PYTHON_DOWNLOADS: "never",
  });
  expect(stepSandboxSpec(step, build, { ...files, clones: true }).env.UV_LINK_MODE).toBe("clone");
});

test("RUN-1 builds get only index, proxy and certificate settings of the operator's environment", () => {
  const environment = {
    UV_INDEX_CORP_PASSWORD: "p",
    UV_DEFAULT_INDEX: "https://x",
    HTTPS_PROXY: "http://proxy",
    SSL_CERT_FILE: "/ca.pem",
    UV_CACHE_DIR: "/elsewhere",
    UV_LINK_MODE: "hardlink",
    TOWPATH_SECRET: "s",
    DATABASE_URL: "postgresql://x",
    LD_PRELOAD: "/evil.so",
    UV_EXTRA_INDEX_URL: "",
  };
  const given = ["HTTPS_PROXY", "SSL_CERT_FILE", "UV_DEFAULT_INDEX", "UV_INDEX_CORP_PASSWORD"];
  expect(Object.keys(pickBuildEnvironment(environment, false)).sort()).toEqual(given);
  expect(pickBuildEnvironment({}, true)).toEqual({ UV_SYSTEM_CERTS: "1" });
  expect(pickBuildEnvironment({ UV_SYSTEM_CERTS: "0" }, true)).toEqual({ UV_SYSTEM_CERTS: "0" });
});
