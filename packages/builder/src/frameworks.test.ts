import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import type { BuildResult } from "./index.ts";
import { plainServer } from "./testing/plain-server.ts";
import { openWorkshop, type Tried, type Workshop } from "./testing/try-build.ts";

vi.setConfig({ testTimeout: 120_000 });

// Supported frameworks, and packages that must be built: each with its own dependencies. What the harness makes of each
// framework is tested in python/towpath_runner.
let workshop: Workshop;
beforeAll(async () => {
  workshop = await openWorkshop();
});
afterAll(() => workshop.close());

const server = `
from fastmcp import FastMCP
mcp = FastMCP("Sample")

@mcp.tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b
`;

type Success = Extract<BuildResult, { ok: true }>;

function success({ result, text }: Tried): Success & { manifest: NonNullable<Success["manifest"]> } {
  if (!result.ok) throw new Error(`${JSON.stringify(result.diagnosis, null, 2)}\n${text}`);
  if (result.manifest === null) throw new Error(text);
  return { ...result, manifest: result.manifest };
}

const sdkServer = server.replace("from fastmcp", "from mcp.server.fastmcp").replace("@mcp.tool", "@mcp.tool()");

type Framework = [name: string, requirement: string, text: string];
const usual: Framework[] = [
  ["an asynchronous factory", "mcp<2", `${sdkServer}async def server():\n    return made\nmade = mcp\ndel mcp\n`],
];
const further: Framework[] = [
  ["mcp 1", "mcp<2", sdkServer],
  ["FastMCP 2", "fastmcp<3", server],
  ["FastMCP 3", "fastmcp>=3,<4", server],
  [
    "mcp 2",
    "fastmcp",
    server
      .replace("from fastmcp import FastMCP", "from mcp.server import MCPServer as FastMCP")
      .replace("@mcp.tool", "@mcp.tool()"),
  ],
  ["an ASGI app", "fastmcp", `${server}app = mcp.http_app(path="/mcp")\ndel mcp\n`],
];
test.runIf(isThorough).each([...usual, ...(isThorough ? further : [])])(
  "BLD-5 BLD-6 a manifest from %s",
  async (_what, requirement, text) => {
    const tried = await workshop.tryBuild({ "server.py": text, "requirements.txt": `${requirement}\n` });
    expect(success(tried).manifest.tools).toMatchObject([{ tool_name: "add", description: "Adds." }]);
  },
);

test.runIf(isThorough)(
  "BLD-16 a console script of a src layout goes live with all tools, also those that its function registers",
  async () => {
    const pyproject = `
[project]
name = "demo-server"
version = "1.0"
dependencies = ["mcp<2"]
[project.scripts]
demo-server = "demo.cli:main"
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
`;
    const cli = `
import argparse
from demo.tools import mcp, multiply

def main():
    argparse.ArgumentParser().parse_args()
    mcp.tool()(multiply)
    mcp.run()
`;
    const tried = await workshop.tryBuild(
      {
        "pyproject.toml": pyproject,
        "src/demo/__init__.py": "",
        "src/demo/tools.py": `${sdkServer}\ndef multiply(a: int, b: int) -> int:\n    return a * b\n`,
        "src/demo/cli.py": cli,
      },
      { entrypoint: "demo-server" },
    );
    expect(success(tried).manifest.tools.map((tool) => tool.tool_name)).toEqual(["add", "multiply"]);
    expect(tried.text).toContain("a console script of pyproject.toml, which calls demo.cli:main");
  },
);

/** Takes a moment to start, and ends when it is initialized once more. */
const byHand = `import json, sys, time
time.sleep(0.4)
greeted = False
def answer(message):
    if message["method"] == "initialize":
        info = {"name": "by hand", "version": "1"}
        return {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": info}
    return {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize" and greeted:
        break
    greeted = True
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer(message)}), flush=True)
`;

test.runIf(isThorough)(
  "BLD-16 a program that speaks MCP on stdio only goes live over a bridge, with a warning; its sessions may start it again",
  async () => {
    const { dataDirectory, database } = workshop;
    const hurried = await openWorkshop({ dataDirectory, database, limits: { handshakeMs: 300 } });
    const tried = await hurried.tryBuild({ "server.py": byHand, "requirements.txt": "# nothing\n" });
    await hurried.close();
    const { manifest, warnings } = success(tried);
    expect(manifest.tools).toMatchObject([{ tool_name: "add" }]);
    expect(warnings).toMatchObject([{ code: "bridged", remedy: expect.stringContaining("mcp>=1.8") }]);
    expect(tried.text).toContain("a bridge starts a process of it for each session");
  },
);

test.runIf(isThorough)("BLD-5 a repository with its own types.py and json.py at the root starts", async () => {
  const files = {
    "server.py": sdkServer,
    "types.py": "own = 1\n",
    "json.py": "own = 1\n",
    "requirements.txt": "mcp<2\n",
  };
  expect(success(await workshop.tryBuild(files)).manifest.tools).toHaveLength(1);
});

test.runIf(isThorough)(
  "BLD-3 a project with its own build backend is built and installed, so the dependency layer depends on its code",
  async () => {
    // A minimal backend (PEP 517): a wheel with one module that is not in the tree.
    const backend = `
import zipfile
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "native_thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{wheel_directory}/{name}", "w") as wheel:
        wheel.writestr("native_thing.py", "answer = 42\\n")
        wheel.writestr("native_thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: native-thing\\nVersion: 1.0\\n")
        wheel.writestr("native_thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("native_thing-1.0.dist-info/RECORD", "")
    open("left-behind.txt", "w").write("backends write into the tree")
    return name
`;
    const pyproject = `
[project]
name = "native-thing"
version = "1.0"
dependencies = ["six"]
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
`;
    const files = {
      "backend.py": backend,
      "pyproject.toml": pyproject,
      "server.py": `import native_thing\n${plainServer}\ninstructions = str(native_thing.answer)\n`,
    };
    const tried = await workshop.tryBuild(files);
    const { manifest, layers } = success(tried);
    expect(manifest.instructions).toBe("42");
    expect(await readdir(await workshop.layers.get(layers.code))).not.toContain("left-behind.txt");
    const changed = success(await workshop.tryBuild({ ...files, "extra.py": "x = 1\n" }));
    expect(changed.layers.dependencies).not.toBe(layers.dependencies);
  },
);
