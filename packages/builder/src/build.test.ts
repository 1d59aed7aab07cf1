import { execFileSync, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { layersSchema } from "@towpath/core/delivery/build/contract";
import { hostWithoutBubblewrap } from "@towpath/runtime/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { type BuildResult, defaultBuildLimits } from "./index.ts";
import { plainServer } from "./testing/plain-server.ts";
import { openWorkshop, requestOf, type Tried, type Workshop } from "./testing/try-build.ts";

vi.setConfig({ testTimeout: 120_000 });

// Real sandbox, uv and index. One workshop, so that dependency layers are made once.
let workshop: Workshop;
beforeAll(async () => {
  workshop = await openWorkshop();
});
afterAll(() => workshop.close());

const server = `
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("Sample")

@mcp.tool()
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b
`;
const requirements = { "requirements.txt": "mcp<2\n" };
/** For tests in which the framework doesn't matter: its import takes a second of processor time. */
const small = { "requirements.txt": "idna\n" };

type Success = Extract<BuildResult, { ok: true }>;

function success({ result, text }: Tried): Success & { manifest: NonNullable<Success["manifest"]> } {
  if (!result.ok) throw new Error(`${JSON.stringify(result.diagnosis, null, 2)}\n${text}`);
  if (result.manifest === null) throw new Error(text);
  return { ...result, manifest: result.manifest };
}

const layer = (digest: string) => workshop.layers.get(digest);

test("BLD-6 BLD-3 a repository becomes layers and a manifest; the log has every choice; no scratch files remain", async () => {
  const tried = await workshop.tryBuild({ "server.py": server, ...requirements });
  const { layers, manifest, timings } = success(tried);
  expect(layersSchema.parse(layers)).toEqual(layers);
  expect(manifest.tools).toMatchObject([
    { tool_name: "add", description: "Adds.", inputSchema: { required: ["a", "b"] } },
  ]);
  expect(tried.text).toContain("plan step Dependencies: requirements.txt (found in the repository");
  expect(tried.text).toMatch(/install output \+? ?.*mcp==/);
  for (const result of [
    /fetch result 2 files/,
    /plan result Python 3\.\d+\.\d+, requirements.txt, server.py/,
    /install result \d{2,} packages installed/,
    /inspect result 1 tool$/m,
  ])
    expect(tried.text).toMatch(result);
  expect(Object.keys(timings)).toEqual(["fetch", "plan", "install", "inspect"]);
  expect(await readdir(join(workshop.dataDirectory, "builds"))).toEqual([]);
  const file = await stat(join(await layer(layers.code), "server.py"));
  expect((file.mode & 0o777).toString(8)).toBe("444");
});

test.runIf(isThorough)("BLD-3 both layers contain bytecode that stays valid when layers are copied", async () => {
  const { layers } = success(await workshop.tryBuild({ "server.py": plainServer, ...small }));
  const site = `lib/python${layers.pythonVersion.split(".").slice(0, 2).join(".")}/site-packages`;
  for (const directory of [
    join(await layer(layers.code), "__pycache__"),
    join(await layer(layers.dependencies), site, "idna/__pycache__"),
  ]) {
    const [name = ""] = await readdir(directory);
    // PEP 552: the second word is 1 for hash-based bytecode that is not checked against its source.
    expect((await readFile(join(directory, name))).readUInt32LE(4)).toBe(1);
  }
});

test.runIf(isThorough)(
  "BLD-3 BLD-16 a change of code alone reuses the dependency layer, and the log says so",
  async () => {
    const first = success(await workshop.tryBuild({ "server.py": plainServer, ...small }));
    // Nothing names the entrypoint: it is found, and the result has it (BLD-16).
    const program = { entrypoint: "", arguments: ["--greeting", "good day"] };
    const likelier = { "demo/__main__.py": 'print("mentions mcp, and starts nothing")\n' };
    const tried = await workshop.tryBuild(
      { "server.py": `${plainServer}\n# changed\n`, ...small, ...likelier },
      program,
    );
    expect(success(tried).program).toEqual({ entrypoint: "server.py", arguments: program.arguments });
    expect(tried.text).toContain("plan step Entrypoint: demo (found automatically);");
    expect(tried.text).toContain("inspect step The program ended without starting a server.");
    expect(tried.text).toContain("inspect step Trying server.py --greeting 'good day'.");
    const second = success(tried);
    expect(second.layers.dependencies).toBe(first.layers.dependencies);
    expect(second.layers.code).not.toBe(first.layers.code);
    expect(tried.text).toContain("reusing its layer");
    expect(tried.text).toContain("Source: 3 files.");
    expect(tried.text).toContain("install result Dependencies reused, code is new");
    expect(tried.text).not.toContain("install output");
  },
);

test.runIf(isThorough)(
  "PRJ-14 layers of an earlier build are taken over without the commit, and made again when they are gone",
  async () => {
    const files = { "server.py": plainServer, ...small };
    const first = success(await workshop.tryBuild(files));
    const openTarball = () => Promise.reject(new Error("the commit isn't needed"));
    const promoted = await workshop.tryBuild({}, { layers: first.layers, openTarball });
    expect(success(promoted)).toMatchObject({ layers: first.layers, manifest: first.manifest });
    expect(Object.keys(promoted.result.timings)).toEqual(["inspect"]);
    expect(promoted.text).toContain("install result Reused from the preview");
    const gone = { ...first.layers, code: "0".repeat(64) };
    const again = await workshop.tryBuild(files, { layers: gone });
    expect(success(again).layers).toEqual(first.layers);
    expect(again.text).toContain("its commit is built again");
  },
);

test.runIf(isThorough)(
  "PRJ-14 a promotion's server is inspected where it runs, with its variables, if that is enough",
  async () => {
    const source = plainServer.replace(
      'instructions = ""',
      "import os\n\ninstructions = os.environ.get('GREETING', '')",
    );
    const signInFirst = source.replace("status = 200 if", 'status = 401 if "CLOSED" in os.environ else 200 if');
    const { layers, manifest } = success(await workshop.tryBuild({ "server.py": signInFirst, ...small }));
    expect(manifest.instructions).toBe("");
    const inspect = async (environment: Record<string, string>, asked = layers) => {
      const { request, text } = requestOf({ layers: asked, environment });
      const server = {
        layers: asked,
        pythonVersion: asked.pythonVersion,
        entrypoint: "server.py",
        environment,
        limits: defaultBuildLimits.server,
        network: "none" as const,
      };
      let starts = 0;
      const inspected = await workshop.builder.inspect(request, async () => {
        starts += 1;
        const spec = { instanceId: randomUUID(), server, startTimeoutMs: 60_000 };
        const started = await workshop.driver.servers.start(spec, () => {});
        return started.ok ? started.handle.endpoint : null;
      });
      return { inspected, starts, text: text() };
    };
    const { inspected, text } = await inspect({ GREETING: "Welcome." });
    expect(inspected).toMatchObject({ ok: true, layers, manifest: { ...manifest, instructions: "Welcome." } });
    expect(text).toContain("install result Reused from the preview");
    expect(text).toContain("inspect result 1 tool");
    // Its own sign-in, a server that doesn't start, and layers that are gone; those aren't even started.
    expect(await inspect({ CLOSED: "yes" })).toEqual({ inspected: null, starts: 1, text: "" });
    expect(await inspect({ PYTHONHOME: "/nowhere" })).toEqual({ inspected: null, starts: 1, text: "" });
    const gone = { ...layers, code: "0".repeat(64) };
    expect(await inspect({}, gone)).toEqual({ inspected: null, starts: 0, text: "" });
    expect((await workshop.builder.inspect(requestOf({}).request, async () => null)) ?? "no promotion").toBe(
      "no promotion",
    );
  },
);

test("BLD-3 an organization never reuses another one's dependency layer, so it cannot poison it", async () => {
  const files = { "server.py": plainServer, "requirements.txt": "six\n" };
  const own = success(await workshop.tryBuild(files));
  const tried = await workshop.tryBuild(files, { organizationId: "org-2" });
  // Identical layers may be stored once, but each organization must have made its own.
  expect(tried.text).toContain("so they are installed");
  // Nor does it learn that another one has these files.
  expect(tried.text).toContain("Code: making layer");
  expect(success(tried).layers.code).toBe(own.layers.code);
});

test.runIf(isThorough)("BLD-1 two builds of the same commit at the same time give the same layers", async () => {
  const files = { "server.py": `${plainServer}\n# twice\n`, "requirements.txt": "six\nidna\n" };
  const [one, two] = await Promise.all([workshop.tryBuild(files), workshop.tryBuild(files)]);
  expect(success(one).layers).toEqual(success(two).layers);
  expect(await readdir(join(workshop.dataDirectory, "builds"))).toEqual([]);
});

test.runIf(isThorough)(
  "BLD-3 from uv.lock with a package in src, exact versions are installed and the package is importable",
  async () => {
    const files = {
      "pyproject.toml": `
[project]
name = "my-server"
version = "1.2.3"
requires-python = ">=3.10"
dependencies = ["six==1.17.0"]
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
`,
      "src/my_server/__init__.py": "from importlib.metadata import version\n__version__ = version('my-server')\n",
      "src/my_server/app.py": plainServer.replace('instructions = ""', "from . import __version__ as instructions"),
    };
    const directory = await mkdtemp(join(tmpdir(), "lock-"));
    await mkdir(join(directory, "src/my_server"), { recursive: true });
    for (const [path, text] of Object.entries(files)) await writeFile(join(directory, path), text);
    execFileSync("uv", ["lock", "--quiet", "--project", directory], { stdio: "inherit" });
    const lock = await readFile(join(directory, "uv.lock"), "utf8");
    await rm(directory, { recursive: true });

    const tried = await workshop.tryBuild({ ...files, "uv.lock": lock }, { entrypoint: "src/my_server/app.py:app" });
    const { manifest } = success(tried);
    expect(manifest).toMatchObject({ server: { name: "Plain" }, instructions: "1.2.3" });
    expect(tried.text).toContain("uv sync --frozen");
    expect(tried.text).toContain("six==1.17.0");
    const changed = { ...files, "uv.lock": lock, "src/my_server/extra.py": "x = 1\n" };
    const again = await workshop.tryBuild(changed, { entrypoint: "src/my_server/app.py:app" });
    expect(success(again).layers.dependencies).toBe(success(tried).layers.dependencies);
  },
);

test.runIf(isThorough)(
  "BLD-4 BLD-15 a script with inline metadata is built from a root directory in a monorepo",
  async () => {
    const script = `# /// script\n# dependencies = ["six"]\n# ///\nimport six\n${plainServer}`;
    const tried = await workshop.tryBuild(
      { "servers/one/tool.py": script },
      { entrypoint: "tool.py:app", rootDirectory: "servers/one" },
    );
    expect(success(tried).manifest.tools).toHaveLength(1);
    expect(tried.text).toContain("PEP 723");
    const missing = await workshop.tryBuild({ "server.py": server }, { rootDirectory: "servers/two" });
    expect(missing.result).toMatchObject({ ok: false, diagnosis: { code: "source_unavailable", phase: "fetch" } });
  },
);

test.runIf(isThorough)(
  "BLD-15 BLD-16 of a monorepo that names no root directory the only project with a server is built, its own files alone",
  async () => {
    const project = (name: string) => `[project]\nname = "${name}"\nversion = "1"\ndependencies = ["six"]\n`;
    const files = {
      "pyproject.toml": project("everything"),
      "scripts/release.py": "print('released')\n",
      "packages/library/pyproject.toml": project("library"),
      "packages/library/library.py": "x = 1\n",
      "packages/server/pyproject.toml": project("server"),
      "packages/server/server.py": plainServer,
      "packages/server/fastmcp.json": JSON.stringify({ source: { path: "server.py", entrypoint: "app" } }),
    };
    const tried = await workshop.tryBuild(files, { entrypoint: "" });
    expect(success(tried).program.entrypoint).toBe("server.py:app");
    expect(tried.text).toContain("Root directory: packages/server (found automatically);");
  },
);

test.runIf(isThorough)(
  "BLD-16 BLD-18 a build warns when the host lacks the .python-version, and of a second server beside the one found",
  async () => {
    // Looks like FastMCP to whoever only reads it, and needs none.
    const server = `"""\nmcp = FastMCP("x")\n"""\n${plainServer}`;
    const files = {
      "server.py": server,
      "weather.py": server,
      ".python-version": "3.15\n",
      "pyproject.toml": `[project]\nname = "pinned"\nversion = "1"\nrequires-python = ">=3.10"\ndependencies = ["six"]\n`,
    };
    const tried = await workshop.tryBuild(files, { entrypoint: "" });
    const { layers, warnings } = success(tried);
    expect(layers.pythonVersion).not.toMatch(/^3\.15/);
    expect(warnings).toMatchObject([
      { code: "python_replaced", title: expect.stringContaining("instead of 3.15") },
      { code: "other_servers", detail: expect.stringMatching(/^`server.py` was found first.* `weather.py` defines/) },
    ]);
    expect(tried.text).toContain("plan warning Built with Python");
    expect(tried.text).toContain("requires-python of pyproject.toml (>=3.10) allows it");
  },
);

test.runIf(isThorough)(
  "RUN-1 a host without bubblewrap builds and serves when the operator allows it, in layers of their own",
  async () => {
    const files = { "server.py": plainServer, "requirements.txt": "six\n" };
    const refusing = await openWorkshop({ isolation: { host: hostWithoutBubblewrap() } });
    const refused = await refusing.tryBuild(files);
    expect(refused.result).toMatchObject({
      ok: false,
      diagnosis: { title: "This platform can't isolate builds at the moment" },
    });
    await refusing.close();

    // Its steps run as this user, whose files in a shared cache the sandboxes' users couldn't change.
    const plain = await openWorkshop({
      ownCache: true,
      isolation: { host: hostWithoutBubblewrap(), allowUnsandboxed: true },
    });
    const sandboxed = success(await workshop.tryBuild(files)).layers;
    const { layers, manifest } = success(await plain.tryBuild(files));
    expect(manifest.tools).toHaveLength(1);
    expect(layers.dependencies).not.toBe(sandboxed.dependencies);
    const started = await plain.driver.servers.start(
      {
        instanceId: randomUUID(),
        startTimeoutMs: 60_000,
        server: {
          layers,
          pythonVersion: layers.pythonVersion,
          entrypoint: "server.py",
          environment: {},
          limits: defaultBuildLimits.server,
          network: "internet",
        },
      },
      () => {},
    );
    expect(started.ok).toBe(true);
    await plain.close();
  },
);

test("RUN-4 the server is inspected with its own environment, which install steps never see", async () => {
  const needy = `import os\n${plainServer}\ninstructions = os.environ["API_TOKEN"]\n`;
  // The build runs this code of the repository, which prints its environment and fails.
  const spy = `import os, sys\nprint("SEEN " + " ".join(sorted(os.environ)), file=sys.stderr)\nraise SystemExit(3)\n`;
  const environment = { API_TOKEN: "s3cret-value" };
  const built = await workshop.tryBuild(
    { "server.py": needy, "requirements.txt": "./probe\n", "probe/setup.py": spy },
    { environment },
  );
  expect(built.result).toMatchObject({ ok: false, diagnosis: { code: "dependency_build_failed" } });
  expect(built.text).toContain("SEEN ");
  expect(built.text).not.toContain("API_TOKEN");
  expect(built.text).not.toContain("s3cret-value");

  const { manifest } = success(await workshop.tryBuild({ "server.py": needy, ...small }, { environment }));
  expect(manifest.instructions).toBe("s3cret-value");
});

test("BLD-13 a canceled build stops at once and leaves nothing behind", async () => {
  const cancel = new AbortController();
  // Longer than the test may take.
  const slow = "import time\ntime.sleep(600)\n";
  const running = workshop.tryBuild(
    { "server.py": slow, ...small },
    {
      signal: cancel.signal,
      log: (phase, _kind, text) => {
        if (phase === "install" && text.includes("reusing its layer"))
          setTimeout(() => cancel.abort(new Error("canceled")), 1_500);
      },
    },
  );
  await expect(running).rejects.toThrow("canceled");
  expect(await readdir(join(workshop.dataDirectory, "builds"))).toEqual([]);
});

test.runIf(isThorough)(
  "BLD-13 a build that exceeds its time limit names the phase in which it was stopped",
  async () => {
    const { dataDirectory, database } = workshop;
    const hurried = await openWorkshop({ limits: { buildMs: 6_000 }, dataDirectory, database });
    // Without dependencies, so that the phases before take no time even on a busy machine.
    const tried = await hurried.tryBuild({ "server.py": "import time\ntime.sleep(60)\n" });
    // The last phase that began: on a busy machine it may be an earlier one than the server's start.
    const phase = tried.log.at(-1)?.phase;
    const detail = expect.stringContaining(`in the ${phase} phase`);
    expect(tried.result, tried.text).toMatchObject({ ok: false, diagnosis: { code: "build_timeout", phase, detail } });
    await hurried.close();
  },
);

test.runIf(isThorough)(
  "RUN-8 a builder killed during an installation leaves only scratch files, which the next start removes",
  async () => {
    const script = fileURLToPath(new URL("./testing/build-to-be-killed.ts", import.meta.url));
    const stored = () => readdir(join(workshop.dataDirectory, "artifacts/blobs"));
    const before = await stored();
    const victim = spawn(process.execPath, [script, workshop.dataDirectory], { stdio: ["ignore", "pipe", "inherit"] });
    const [runDirectory] = await once(victim.stdout, "data");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    victim.kill("SIGKILL");
    await once(victim, "exit");
    const builds = join(workshop.dataDirectory, "builds");
    expect(await readdir(builds)).toHaveLength(1);
    expect(await workshop.driver.builds.removeLost(async () => new Set())).toBe(1);
    expect(await readdir(builds)).toEqual([]);
    // The code layer may be stored, that of the dependencies is not; everything stored is complete.
    const now = await stored();
    expect(now.length).toBeLessThanOrEqual(before.length + 1);
    for (const digest of now) {
      const bytes = await readFile(join(workshop.dataDirectory, "artifacts/blobs", digest));
      expect(createHash("sha256").update(bytes).digest("hex")).toBe(digest);
    }
    await rm(String(runDirectory), { recursive: true, force: true });
  },
);
