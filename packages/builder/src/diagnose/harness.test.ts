import { expect, test } from "vitest";
import { diagnoseHarness } from "./harness.ts";

type Status = Parameters<typeof diagnoseHarness>[0];

const server = { program: { entrypoint: "demo", arguments: [] }, entryFile: "src/demo/server.py", dependencies: null };

const failed = (code: Status["code"], message: string, more: Partial<Status> = {}): Status => ({
  state: "failed",
  code,
  message,
  file: "src/demo/server.py",
  line: 3,
  module: null,
  candidates: [],
  traceback: "Traceback (most recent call last): …",
  ...more,
});

// The harness's own tests (test_causes.py) show what it reports for these servers.
test.each<[string, Status, { title: string; remedy: string }]>([
  [
    "a library of the system, by its Debian package",
    failed("native_library_missing", "The library `libGL.so.1` isn't installed", { module: "libGL.so.1" }),
    { title: "system library libGL.so.1", remedy: "Debian package `libgl1`" },
  ],
  [
    "a library that few packages need",
    failed("native_library_missing", "The library `librare.so.7` isn't installed", { module: "librare.so.7" }),
    { title: "librare.so.7", remedy: "apt-file search" },
  ],
  [
    "a module that an installed package hides",
    failed("module_missing", "`server.py` line 1 imports `demo.tools`", {
      module: "demo.tools",
      candidates: ["src/demo/tools.py"],
    }),
    { title: "An installed package hides the repository's demo.tools", remedy: "Rename `demo` in the repository" },
  ],
  [
    "what serving needs",
    failed("dependency_mismatch", "Serving MCP over HTTP needs uvicorn.", { module: "click" }),
    { title: "The installed click keeps the server from being served", remedy: "Require a newer `click`" },
  ],
  [
    "a program",
    failed("program_missing", "The server runs the program `ffmpeg`", { module: "ffmpeg" }),
    { title: "The program ffmpeg isn't installed", remedy: "install the package with `ffmpeg` on this host" },
  ],
  [
    "a program for the system's administrator",
    failed("program_missing", "The server runs the program `sudo`", { module: "sudo" }),
    { title: "The program sudo isn't installed", remedy: "A server can't change the system here" },
  ],
  [
    "an argument that a release of FastMCP has removed",
    failed("keyword_removed", "The code passes `port` to `FastMCP`", { module: "fastmcp", candidates: ["port"] }),
    { title: "The installed fastmcp doesn't take the argument port", remedy: "Remove `port` from the call" },
  ],
  [
    "an argument that mcp 1 took until a release",
    failed("keyword_removed", "The code passes `version` to `FastMCP`", {
      module: "mcp",
      candidates: ["version", "1.30.0"],
    }),
    {
      title: "The installed mcp doesn't take the argument version",
      remedy: "such as `mcp<1.12` with `pydantic<2.12`.",
    },
  ],
  [
    "a program with commands",
    failed("arguments_missing", "`shop` needs a command. It has these: `init`, `serve`.", {
      candidates: ["init", "serve"],
    }),
    { title: "The program needs other arguments", remedy: "the command that starts the server" },
  ],
  [
    "a requirement of a requirement",
    failed("dependency_mismatch", "mcp 1.7.1 doesn't work", { module: "pydantic", candidates: ["mcp", "pydantic"] }),
    { title: "mcp doesn't work with the installed pydantic", remedy: "Upgrade `mcp`" },
  ],
  [
    "a package that is too old for the code",
    failed("dependency_mismatch", "`server.py` line 1 imports `mcp.server.fastmcp`", { candidates: ["mcp"] }),
    { title: "The installed mcp isn't the one", remedy: "Require a release of `mcp`" },
  ],
  [
    "a host that answers nobody here",
    failed("host_unreachable", "While it starts", { module: "huggingface.co" }),
    { title: "The server can't reach huggingface.co", remedy: "into the repository or a package" },
  ],
  [
    "a service on the machine of its author",
    failed("host_unreachable", "While it starts", { module: "127.0.0.1" }),
    { title: "The server can't reach 127.0.0.1", remedy: "has a `localhost` of its own" },
  ],
  [
    "a place that stays read-only",
    failed("read_only", "The server writes to `/usr/share/x`", { module: "/usr/share/x" }),
    { title: "writes to a read-only place", remedy: "home directory" },
  ],
  [
    "arguments",
    failed("arguments_missing", "It printed: the following arguments are required: --db-path"),
    { title: "The program needs other arguments", remedy: "Settings → Build" },
  ],
  [
    "an exit in the code",
    failed("exited_early", "`server.py` line 3 ends the process before there is a server"),
    { title: "The program ends itself", remedy: "Its output says why" },
  ],
  [
    "an end without a server",
    failed("exited_early", "`demo` ended before it started a server.", { traceback: null }),
    { title: "The program ended without starting a server", remedy: "Set the entrypoint" },
  ],
])("BLD-2 the remedy is true: %s", (_what, status, expected) => {
  const found = diagnoseHarness(status, server);
  expect(found).toMatchObject({ code: status.code, phase: "inspect", detail: status.message });
  expect(found.title).toContain(expected.title);
  expect(found.remedy).toContain(expected.remedy);
});

test("BLD-2 a child process's output is quoted, too", () => {
  const status = failed("exited_early", "`server.py` line 3 ends the process. It printed nothing.");
  expect(diagnoseHarness(status, server, ["Starting", "", "java: not found"]).detail).toBe(
    "`server.py` line 3 ends the process. It printed: Starting / java: not found",
  );
  expect(diagnoseHarness(status, server, [""]).detail).toBe(status.message);
  const own = failed("exited_early", "It printed: mine");
  expect(diagnoseHarness(own, server, ["mine"]).detail).toBe("It printed: mine");
});

test("BLD-2 variables that the server checks itself are requested by name", () => {
  const status = failed("variable_missing", "The server looked up …", { candidates: ["DEMO_URL", "DEMO_TOKEN"] });
  const action = { kind: "variables", names: ["DEMO_URL", "DEMO_TOKEN"] };
  expect(diagnoseHarness(status, server)).toMatchObject({ title: "Environment variables are not set", action });
});

test.each<[Status["code"], Partial<Status>, object]>([
  ["syntax_error", {}, { kind: "code", path: null }],
  ["module_missing", { module: "httpx" }, { kind: "code", path: null }],
  ["import_failed", {}, { kind: "code", path: null }],
  ["lifespan_failed", {}, { kind: "code", path: null }],
  ["variable_missing", { candidates: ["API_KEY", "not a name"] }, { kind: "variables", names: ["API_KEY"] }],
  ["variable_missing", {}, { kind: "settings", section: "variables" }],
  ["arguments_missing", { candidates: ["serve"] }, { kind: "settings", section: "build" }],
  ["object_missing", { candidates: ["app"] }, { kind: "entrypoint", candidates: ["src/demo/server.py:app"] }],
  ["unsupported_object", {}, { kind: "settings", section: "build" }],
  ["exited_early", {}, { kind: "settings", section: "variables" }],
  ["exited_early", { traceback: null }, { kind: "settings", section: "build" }],
  ["native_library_missing", { module: "libGL.so.1" }, { kind: "operator" }],
  ["program_missing", { module: "ffmpeg" }, { kind: "operator" }],
  ["program_missing", { module: "/usr/bin/sudo" }, { kind: "settings", section: "variables" }],
  ["host_unreachable", { module: "api.example.com" }, { kind: "rebuild" }],
  ["host_unreachable", { module: "localhost" }, { kind: "settings", section: "variables" }],
])("BLD-2 building again is offered only where it can help: %s with %o", (code, more, action) => {
  expect(diagnoseHarness(failed(code, "", more), server).action).toEqual(action);
});
