import type { ResolvedPython } from "@towpath/runtime";
import { expect, test } from "vitest";
import { type BuilderConfig, defaultBuildLimits, pickBuildEnvironment } from "../config.ts";
import { makePlan } from "../plan/index.ts";
import { type BuildSandbox, stepSpec } from "./build-sandbox.ts";
import { finishDependencies, installCommands, resolveCommand } from "./commands.ts";
import { codeKey, dependencyKey, resolutionKey } from "./layer-key.ts";

const python: ResolvedPython = {
  version: "3.11.7",
  executable: "/usr/bin/python3.11",
  prefix: "/usr",
  insideExecutable: "/opt/python/bin/python3.11",
  env: {},
};
const config: BuilderConfig = {
  dataDirectory: "/data",
  uv: "/usr/bin/uv",
  buildEnvironment: { UV_DEFAULT_INDEX: "https://index.example/simple", SSL_CERT_FILE: "/etc/own-ca.pem" },
  defaultPython: null,
};
const sandbox: BuildSandbox = {
  config,
  limits: defaultBuildLimits,
  script: "/layer.py",
  python,
  organizationId: "org-1",
};
const planOf = (files: Record<string, string>) =>
  makePlan(
    { paths: new Set(["server.py", ...Object.keys(files)]), texts: new Map(Object.entries(files)), digest: "d" },
    { entrypoint: "server.py", requirements: null },
  );

test("BLD-3 names from a repository never become options: they stand behind `--` or in an absolute path", () => {
  const odd = "-r evil.txt";
  const plan = makePlan(
    { paths: new Set(["server.py", odd]), texts: new Map([[odd, "fastmcp\n"]]), digest: "d" },
    { entrypoint: "server.py", requirements: odd },
  );
  const command: readonly string[] = resolveCommand(plan, python.insideExecutable) ?? [];
  expect(command.indexOf("--")).toBeGreaterThan(0);
  expect(command.slice(command.indexOf("--"))).toEqual(["--", `/app/src/${odd}`, "/app/build/requirements.in"]);
});

test("BLD-3 a lock is installed as it is, without the project, never changed", () => {
  const lock = '[[package]]\nname = "mcp"\n';
  const [sync, more] = installCommands(planOf({ "uv.lock": lock, "pyproject.toml": "[project]\nname='a'\n" }), "/py");
  expect(sync).toEqual([
    "/opt/uv/uv",
    "sync",
    "--frozen",
    "--no-dev",
    "--no-editable",
    "--python",
    "/py",
    "--no-install-project",
  ]);
  expect(more?.slice(-2)).toEqual(["--", "uvicorn"]);
});

test("BLD-3 the project's name and version cannot lead out of the environment", () => {
  const plan = planOf({
    "pyproject.toml": '[project]\nname = "../../evil"\nversion = "../../1"\n[build-system]\nrequires = []\n',
  });
  const project: unknown = JSON.parse(finishDependencies(plan, "/py").at(-1) ?? "");
  expect(project).toEqual({ roots: ["/app/src", "/app/src/src"], name: null, version: "0.0.0" });
});

test("RUN-1 a build step sees its own folders, one user per organization, the operator's index and certificates", () => {
  const folders = {
    readOnly: { code: "/s/source" },
    writable: { dependencies: "/s/deps", cache: "/data/cache/uv/org-1" },
  };
  const spec = stepSpec(sandbox, ["/opt/uv/uv", "--version"], folders, "internet");
  expect(spec.identity).toBe("build:org-1");
  expect(spec.mounts).toEqual([
    { host: "/usr", inside: "/opt/python", writable: false },
    { host: "/usr/bin/uv", inside: "/opt/uv/uv", writable: false },
    { host: "/layer.py", inside: "/opt/towpath-build/layer.py", writable: false },
    { host: "/etc/own-ca.pem", inside: "/etc/ssl/towpath-operator.pem", writable: false },
    { host: "/s/source", inside: "/app/src", writable: false },
    { host: "/s/deps", inside: "/app/.venv", writable: true },
    { host: "/data/cache/uv/org-1", inside: "/cache/uv", writable: true },
  ]);
  expect(spec.env).toMatchObject({
    UV_DEFAULT_INDEX: "https://index.example/simple",
    SSL_CERT_FILE: "/etc/ssl/towpath-operator.pem",
    UV_LINK_MODE: "copy",
    UV_PYTHON_DOWNLOADS: "never",
  });
});

test("RUN-1 of the operator's environment builds get index, proxy and certificate settings, nothing else", () => {
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

test("BLD-3 a dependency layer's name changes with list, Python, uv, index and organization, not with the code", () => {
  const plan = planOf({ "requirements.txt": "fastmcp\n" });
  const tools = { organizationId: "org-1", python, uvVersion: "uv 0.13.8", buildEnvironment: {} };
  const keys = [
    dependencyKey(plan, "fastmcp==4.1.2", tools),
    dependencyKey(plan, "fastmcp==4.1.3", tools),
    dependencyKey(plan, "fastmcp==4.1.2", { ...tools, organizationId: "org-2" }),
    dependencyKey(plan, "fastmcp==4.1.2", { ...tools, python: { ...python, version: "3.12.1" } }),
    dependencyKey(plan, "fastmcp==4.1.2", { ...tools, uvVersion: "uv 0.14.0" }),
    dependencyKey(plan, "fastmcp==4.1.2", { ...tools, buildEnvironment: { UV_DEFAULT_INDEX: "https://x" } }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  const otherCode = planOf({ "requirements.txt": "fastmcp\n", "more.py": "x = 1\n" });
  expect(dependencyKey(otherCode, "fastmcp==4.1.2", tools)).toBe(keys[0]);
  expect(resolutionKey(otherCode, tools)).toBe(resolutionKey(plan, tools));
  expect(codeKey("a", python)).not.toBe(codeKey("b", python));
});
