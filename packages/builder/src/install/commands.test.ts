import { expect, test } from "vitest";
import { makePlan } from "../plan/plan.ts";
import {
  codeKey,
  dependencyKey,
  finishDependencies,
  installCommands,
  resolutionKey,
  resolveCommand,
} from "./commands.ts";

const planOf = (files: Record<string, string>) =>
  makePlan(
    {
      paths: new Set(["server.py", ...Object.keys(files)]),
      texts: new Map(Object.entries(files)),
      code: new Map(),
      digest: "d",
      context: null,
    },
    { entrypoint: "server.py", arguments: [], requirements: null, rootDirectory: null },
  );

test("BLD-3 names from a repository never become options: they follow `--` or are part of an absolute path", () => {
  const odd = "-r evil.txt";
  const plan = makePlan(
    {
      paths: new Set(["server.py", odd]),
      texts: new Map([[odd, "fastmcp\n"]]),
      code: new Map(),
      digest: "d",
      context: null,
    },
    { entrypoint: "server.py", arguments: [], requirements: odd, rootDirectory: null },
  );
  const command: readonly string[] = resolveCommand(plan, "/opt/python/bin/python3.11", null) ?? [];
  expect(command.indexOf("--")).toBeGreaterThan(0);
  expect(command.slice(command.indexOf("--"))).toEqual(["--", `/app/src/${odd}`, "/app/build/requirements.in"]);
});

test("BLD-3 a lock is installed as it is, without the project, and never changed", () => {
  const lock = '[[package]]\nname = "a"\n\n[[package]]\nname = "mcp"\n';
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

test("BLD-3 the project's name and version cannot point outside the environment", () => {
  const plan = planOf({
    "pyproject.toml": '[project]\nname = "../../evil"\nversion = "../../1"\n[build-system]\nrequires = []\n',
  });
  const project: unknown = JSON.parse(finishDependencies(plan, "/py").at(-2) ?? "");
  expect(project).toEqual({ roots: ["/app/src", "/app/src/src"], name: null, version: "0.0.0" });
});

test("BLD-3 a dependency layer's key changes with versions, build image and organization, not with the code", () => {
  const plan = planOf({ "requirements.txt": "fastmcp\n" });
  const tools = { organizationId: "org-1", image: "Python 3.11.7, uv 0.13.8" };
  const keys = [
    dependencyKey(plan, "fastmcp==4.1.2", tools),
    dependencyKey(plan, "fastmcp==4.1.3", tools),
    dependencyKey(plan, "fastmcp==4.1.2", { ...tools, organizationId: "org-2" }),
    dependencyKey(plan, "fastmcp==4.1.2", { ...tools, image: "Python 3.12.1, uv 0.13.8" }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  const otherCode = planOf({ "requirements.txt": "fastmcp\n", "more.py": "x = 1\n" });
  expect(dependencyKey(otherCode, "fastmcp==4.1.2", tools)).toBe(keys[0]);
  expect(resolutionKey(otherCode, tools, null)).toBe(resolutionKey(plan, tools, null));
  expect(resolutionKey(plan, tools, new Date(0))).not.toBe(resolutionKey(plan, tools, null));
  const codeKeys = [codeKey("a", "3.11.7", "org-1"), codeKey("b", "3.11.7", "org-1"), codeKey("a", "3.12.1", "org-1")];
  expect(new Set([...codeKeys, codeKey("a", "3.11.7", "org-2")]).size).toBe(4);
});
