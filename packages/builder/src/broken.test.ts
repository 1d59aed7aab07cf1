import type { Diagnosis } from "@towpath/core/delivery/build/contract";
import { pickBuildEnvironment } from "@towpath/runtime/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { packageSource } from "./fetch/package-source.ts";
import { tarball } from "./fetch/tarball.ts";
import type { BuildRequest } from "./index.ts";
import { openWorkshop, type Workshop } from "./testing/try-build.ts";

vi.setConfig({ testTimeout: 120_000 });

// BLD-2: each failure, with a repository that causes it.
let workshop: Workshop;
/** For servers that don't start: the limit is six seconds instead of a minute. */
let hurried: Workshop;
const serverLimits = { memoryBytes: 300 * 1024 * 1024, processes: 64, cpus: 1, tmpBytes: 64 * 1024 * 1024 };
beforeAll(async () => {
  workshop = await openWorkshop({ limits: { server: serverLimits } });
  const { dataDirectory, database } = workshop;
  hurried = await openWorkshop({ limits: { startMs: 6_000, server: serverLimits }, dataDirectory, database });
});
afterAll(async () => {
  await hurried?.close();
  await workshop?.close();
});

const server = 'from mcp.server import MCPServer\nmcp = MCPServer("Sample")\n';
const requirements = { "requirements.txt": "mcp\n" };
/** For failures before a framework is imported. */
const small = { "requirements.txt": "idna\n" };

async function failure(
  files: Record<string, string>,
  more?: Partial<BuildRequest>,
  { tryBuild } = workshop,
): Promise<Diagnosis> {
  const { result, text } = await tryBuild(files, more);
  if (result.ok) throw new Error(`The build succeeded:\n${text}`);
  const { title, detail, remedy } = result.diagnosis;
  for (const part of [title, detail, remedy]) expect(part).not.toBe("");
  // The log has what the page shows.
  expect(text).toContain(title);
  expect(text).toContain(remedy);
  return result.diagnosis;
}

test.runIf(isThorough)("BLD-2 an entrypoint that does not exist", async () => {
  // It looks like FastMCP to whoever only reads it. The other file has no server, and its name comes first.
  const renamed = `"""\nmcp = FastMCP("x")\n"""\n${server}`;
  const found = await failure({ "renamed.py": renamed, "helpers.py": "x = 1\n", ...requirements });
  const action = { kind: "entrypoint", candidates: ["renamed.py"] };
  expect(found).toMatchObject({ code: "entrypoint_not_found", phase: "plan", action });
  expect(found.remedy).toContain("`renamed.py`");
});

test("BLD-2 BLD-17 an entrypoint that a package lacks, which users can't push", async () => {
  const version = { name: "idna", version: "3.10", requiresPython: null, uploadedAt: null };
  const found = await failure({}, { isPackage: true, openTarball: () => packageSource(version) });
  expect(found).toMatchObject({ code: "entrypoint_not_found", phase: "plan" });
  expect(found.remedy).toContain("as the package's documentation says");
});

test("BLD-2 a syntax error, with file and line", async () => {
  const found = await failure({ "server.py": `${server}def broken(:\n`, ...small });
  expect(found).toMatchObject({ code: "syntax_error", phase: "inspect", file: "server.py", line: 3 });
});

test("BLD-2 a missing module: the remedy names the package and the file to add it to", async () => {
  const found = await failure({ "server.py": `import yaml_nope\n${server}`, ...small });
  expect(found).toMatchObject({ code: "module_missing", file: "server.py", line: 1 });
  expect(found.remedy).toContain("`yaml-nope`");
  expect(found.remedy).toContain("`requirements.txt`");
});

test.runIf(isThorough)(
  "BLD-2 a missing module in a repository without a file for it: the remedy makes one",
  async () => {
    const found = await failure({ "server.py": "import bs4\n" });
    expect(found.remedy).toContain("`beautifulsoup4`");
    expect(found.remedy).toContain("new requirements.txt");
  },
);

test("BLD-2 a package that the index does not have", async () => {
  const found = await failure({ "server.py": server, "requirements.txt": "idna\ntowpath-no-such-package-q7\n" });
  expect(found).toMatchObject({ code: "dependency_not_found", phase: "install", file: "requirements.txt" });
  expect(found.title).toContain("towpath-no-such-package-q7");
  expect(found.excerpt).toContain("No solution found");
  const version = await failure({ "server.py": server, "requirements.txt": "idna==99.1\n" });
  expect(version).toMatchObject({ code: "dependency_not_found", title: expect.stringContaining("idna==99.1") });
});

test.runIf(isThorough)("BLD-2 conflicting versions", async () => {
  const found = await failure({ "server.py": server, "requirements.txt": "fastmcp>=4\nstarlette<0.20\n" });
  expect(found).toMatchObject({ code: "dependency_conflict", phase: "install", file: "requirements.txt" });
  expect(found.excerpt).toContain("starlette");
});

test("BLD-2 BLD-18 a Python version that the platform lacks: the diagnosis lists those it has", async () => {
  const project = '[project]\nname = "old"\nversion = "1"\nrequires-python = "<3.10"\n';
  const files = { "server.py": server, ".python-version": "3.9\n", "pyproject.toml": project, ...requirements };
  const found = await failure(files);
  expect(found).toMatchObject({ code: "python_unavailable", phase: "plan", file: ".python-version" });
  expect(found.detail).toMatch(/It has Python 3\.1\d\.\d+/);
  expect(found.detail).toContain("pyproject.toml requires <3.10");
});

test.runIf(isThorough)("BLD-2 an import that never returns", async () => {
  const files = { "server.py": "print('connecting', flush=True)\nwhile True:\n    pass\n", ...small };
  const found = await failure(files, {}, hurried);
  expect(found).toMatchObject({ code: "start_timeout", phase: "inspect", file: "server.py" });
  // On a busy machine it is given more time.
  expect(found.detail).toMatch(
    /^It was at `server\.py` line [23] after (?:6|12|18) seconds\. It .*(?:loops|busy with others)/,
  );
  expect(found.excerpt).toMatch(/^File "server\.py", line [23], in <module>\n\nconnecting$/);
});

test.runIf(isThorough)("BLD-2 a start that waits in an import names its current line", async () => {
  const waiting = "import time\n\ndef connect():\n    time.sleep(1000)\n\nconnect()\n";
  const inImport = await failure({ "app/server.py": waiting, ...small }, { rootDirectory: "app" }, hurried);
  expect(inImport).toMatchObject({
    code: "start_timeout",
    file: "server.py",
    line: 4,
    action: { kind: "code", path: "app/server.py" },
  });
  expect(inImport.detail).toContain("so it waits for something");
});

// The tests above and below cover the same branches of the diagnosis, and cost as much.
test.runIf(isThorough)("BLD-2 so does a start that waits in a lifespan", async () => {
  const lifespan = `import asyncio
from contextlib import asynccontextmanager
from starlette.applications import Starlette

@asynccontextmanager
async def lifespan(app):
    await asyncio.sleep(1000)
    yield

app = Starlette(lifespan=lifespan)
`;
  const files = { "server.py": lifespan, "requirements.txt": "starlette\nuvicorn\n" };
  const found = await failure(files, { entrypoint: "server.py:app" }, hurried);
  expect(found).toMatchObject({ code: "start_timeout", file: "server.py", line: 7 });
});

test.runIf(isThorough)("BLD-2 a server that exits during the import, or right after it has started", async () => {
  const atOnce = await failure({ "server.py": "import os\nprint('bye', flush=True)\nos._exit(3)\n", ...small });
  expect(atOnce).toMatchObject({ code: "exited_early", phase: "inspect" });
  expect(atOnce.detail).toContain("status 3");
  expect(atOnce.excerpt).toContain("bye");
  const later = `${server}
import os, threading, time
def end():
    # The mode with which it is ready.
    while not os.path.exists("/run/towpath/mcp.sock") or os.stat("/run/towpath/mcp.sock").st_mode & 0o777 != 0o660:
        time.sleep(0.001)
    os._exit(4)
threading.Thread(target=end, daemon=True).start()
`;
  const found = await failure({ "server.py": later, ...requirements });
  expect(found.code).toBe("exited_early");
});

test.runIf(isThorough)("BLD-2 a missing object, and an object that is not a server", async () => {
  const missing = await failure({ "server.py": server.replace("mcp =", "my_tools ="), ...requirements });
  const action = { kind: "entrypoint", candidates: ["server.py:my_tools"] };
  expect(missing).toMatchObject({ code: "object_missing", phase: "inspect", action });
  expect(missing.remedy).toContain("`server.py:my_tools`");
  // The harness reports it, whose own tests start less.
  if (!isThorough) return;
  const wrong = await failure(
    { "server.py": `${server}numbers = [1]\n`, ...requirements },
    { entrypoint: "server.py:numbers" },
  );
  expect(wrong.code).toBe("unsupported_object");
});

test.runIf(isThorough)("BLD-2 a missing variable: the diagnosis names it and where to set it", async () => {
  const found = await failure({
    "server.py": `import os\nkey = os.environ["WEATHER_KEY"]\n${server}`,
    ...small,
  });
  const action = { kind: "variables", names: ["WEATHER_KEY"] };
  expect(found).toMatchObject({ code: "variable_missing", file: "server.py", line: 2, action });
  expect(found.title).toContain("WEATHER_KEY");
  expect(found.remedy).toContain("Add `WEATHER_KEY` under Settings → Environment variables");
});

test.runIf(isThorough)("BLD-2 code for mcp 1 with mcp 2 installed", async () => {
  const old = 'from mcp.server.fastmcp import FastMCP\nmcp = FastMCP("Old")\n';
  // Together with a FastMCP that needs mcp 2: otherwise it is built with mcp 1.
  const found = await failure({ "server.py": old, "requirements.txt": "fastmcp>=4\n" });
  expect(found).toMatchObject({ code: "mcp_version_mismatch", phase: "inspect" });
  expect(found.remedy).toContain("`mcp<2`");
  expect(found.remedy).toContain("`requirements.txt`");
});

test.runIf(isThorough)("BLD-2 a lifespan and an import that raise, with the server's message", async () => {
  const raises = await failure({ "server.py": `${server}raise RuntimeError("no luck today")\n`, ...requirements });
  expect(raises).toMatchObject({ code: "import_failed", file: "server.py", line: 3 });
  expect(raises.detail).toContain("no luck today");
  const lifespan = `from contextlib import asynccontextmanager
from mcp.server import MCPServer
@asynccontextmanager
async def start(server):
    raise RuntimeError("database is down")
    yield {}
mcp = MCPServer("Sample", lifespan=start)
`;
  const found = await failure({ "server.py": lifespan, ...requirements });
  expect(found.code).toBe("lifespan_failed");
  expect(`${found.detail}${found.excerpt}`).toContain("database is down");
});

test.runIf(isThorough)("BLD-2 a server that runs out of memory while starting", async () => {
  const hog = `blocks = []\nwhile True:\n    blocks.append(bytearray(16 * 1024 * 1024))\n`;
  const found = await failure({ "server.py": hog, ...small });
  expect(found).toMatchObject({ code: "out_of_memory", phase: "inspect" });
  expect(found.detail).toContain("300 MB");
});

test.runIf(isThorough)("BLD-2 an app that does not serve MCP", async () => {
  const app = `async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": b"<h1>hi</h1>"})
`;
  const found = await failure({ "server.py": app, ...small });
  expect(found).toMatchObject({ code: "protocol_error", phase: "inspect" });
  expect(found.remedy).toContain("/mcp");
});

test.runIf(isThorough)(
  "BLD-2 a dependency that cannot be built, with its output and the package that requires it",
  async () => {
    const setup = (more: string) => `from setuptools import setup\nsetup(version="1", py_modules=[], ${more})\n`;
    const files = {
      "server.py": server,
      "requirements.txt": "idna\n./outer\n",
      "outer/setup.py": setup('name="outer", install_requires=["native @ file:///app/src/native"]'),
      // Its metadata is available, so that versions can be resolved.
      "native/setup.py": `import sys\nif "bdist_wheel" in sys.argv: raise RuntimeError("needs libfoo")\n${setup('name="native"')}`,
    };
    const found = await failure(files);
    expect(found).toMatchObject({
      code: "dependency_build_failed",
      phase: "install",
      title: "native couldn't be built",
    });
    expect(found.detail).toContain("`outer`, on which the project depends, requires `native`");
    expect(found.excerpt).toContain("needs libfoo");
  },
);

test.runIf(isThorough)(
  "BLD-2 a repository that has nothing to do with MCP, before anything is installed, unless something that it requires may bring it",
  async () => {
    const files = { "app.py": "import six\n", "requirements.txt": "six\n" };
    const found = await failure(files, { entrypoint: "" });
    expect(found).toMatchObject({ code: "entrypoint_not_found", phase: "install" });
    expect(found.detail).toContain("nothing was installed");
    const bringing = await failure({ ...files, "requirements.txt": "mcp-nothing-of-this-name\n" }, { entrypoint: "" });
    expect(bringing.code).toBe("dependency_not_found");
  },
);

test.each([
  ["h11", "0.16.0", "The package h11 has nothing that can be started"],
  ["six", "1.17.0", "The package six is no MCP server"],
])(
  "BLD-2 BLD-17 a package that can't be a server, before its requirements are installed: %s",
  async (name, version, title) => {
    const source = { name, version, requiresPython: null, uploadedAt: null };
    const request = { entrypoint: "", isPackage: true, openTarball: () => packageSource(source) };
    const { result, text } = await workshop.tryBuild({}, request);
    expect(result).toMatchObject({ ok: false, diagnosis: { code: "entrypoint_not_found", phase: "install", title } });
    expect(text).toContain("If the package isn't an MCP server, nothing starts one.");
    // The harness needs it, so it is among the dependencies of each server.
    expect(text).not.toContain(" + uvicorn==");
  },
);

test.runIf(isThorough)("BLD-2 an index that does not answer", async () => {
  const environment = {
    ...pickBuildEnvironment(process.env),
    UV_DEFAULT_INDEX: "https://index.invalid/simple",
    UV_HTTP_RETRIES: "0",
  };
  const cutOff = await openWorkshop({ buildEnvironment: environment, ownCache: true });
  const { result } = await cutOff.tryBuild({ "server.py": server, ...small });
  expect(result).toMatchObject({ ok: false, diagnosis: { code: "index_unreachable", phase: "install" } });
  await cutOff.close();
});

test("BLD-2 a commit that GitHub does not have", async () => {
  const openTarball = () => Promise.reject(new Error("GitHub does not know this."));
  const found = await failure({}, { openTarball });
  expect(found).toMatchObject({ code: "source_unavailable", phase: "fetch", detail: "GitHub does not know this." });
});

test("BLD-2 a tarball with a link that points outside the tree", async () => {
  const evil = [
    { name: "top/server.py", text: server },
    { name: "top/keys", type: "symlink" as const, linkname: "../../../../etc" },
  ];
  const found = await failure({}, { openTarball: () => tarball(evil) });
  expect(found).toMatchObject({ code: "source_unsafe", phase: "fetch" });
});

// Floods of servers and of builds' steps have tests of their own.
test.runIf(isThorough)(
  "RUN-5 a server that prints a gigabyte while starting neither fails the build nor floods its log",
  async () => {
    const loud = `import os
line = b"x" * 1023 + b"\\n"
for _ in range(1024 * 1024):
    os.write(1, line)
${server}`;
    const { result, log } = await hurried.tryBuild({ "server.py": loud, ...requirements });
    expect(result.ok || result.diagnosis.code === "start_timeout").toBe(true);
    expect(log.length).toBeLessThan(1_200);
    expect(log.some((line) => line.kind === "warning" && line.text.includes("1000 lines"))).toBe(true);
  },
);
