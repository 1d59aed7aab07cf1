import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { plainServer } from "../testing/plain-server.ts";
import { repository } from "../testing/tarball.ts";
import { openWorkshop, type Workshop } from "../testing/try-build.ts";

vi.setConfig({ testTimeout: 120_000 });

// Real sandbox, uv and index. itsdangerous had `json` until 2.0, of May 2021; 2.1 of February 2022 lacks it.
let workshop: Workshop;
beforeAll(async () => {
  workshop = await openWorkshop();
});
afterAll(() => workshop.close());

const commit = (code: string, committedAt?: string) => {
  const files = { "server.py": `${code}\n${plainServer}`, "requirements.txt": "itsdangerous\n" };
  return {
    entrypoint: "server.py:app",
    openTarball: () => repository(files, committedAt === undefined ? new Date() : new Date(committedAt)),
  };
};
const gone = "from itsdangerous import json as _";

test.runIf(isThorough)(
  "BLD-3 BLD-16 a server that newer dependencies broke runs with those of its commit's day, with a warning of what differs",
  async () => {
    const { result, text } = await workshop.tryBuild({}, commit(gone, "2021-12-01T12:00:00Z"));
    if (!result.ok) throw new Error(text);
    expect(result.manifest?.tools).toHaveLength(1);
    const [warning] = result.warnings;
    expect(warning).toMatchObject({ code: "older_dependencies", title: expect.stringContaining("2021-12-01") });
    expect(warning?.detail).toContain("itsdangerous 2.0.1 (today 2.");
    expect(warning?.remedy).toContain("pin those that it needs in `requirements.txt`");
    expect(text).toMatch(
      /install step Attempt 2: newer versions .* so those of 2021-12-01 are installed, when the commit was made\./,
    );
    expect(text.match(/^fetch result/gm)).toHaveLength(1);
    expect(text).toContain("itsdangerous==2.0.1");
  },
);

test.runIf(isThorough)(
  "RUN-8 what a lost build had installed is installed again: its versions, those of its day, or today's if they are gone",
  async () => {
    const kept = { pythonVersion: "0.0.0", at: "2021-12-01T12:00:00.000Z" };
    const again = async (pins: string[] | null, requirements = "itsdangerous\n") => {
      const files = { "server.py": plainServer, "requirements.txt": requirements };
      const openTarball = () => repository(files);
      const request = { entrypoint: "server.py:app", openTarball, resolution: { ...kept, pins } };
      const { result, text } = await workshop.tryBuild({}, request);
      if (!result.ok) throw new Error(text);
      return result;
    };
    const pinned = await again(["itsdangerous==2.0.0", "nothing-here==1"]);
    expect(pinned.resolution?.pins).toContain("itsdangerous==2.0.0");
    expect(pinned.warnings).toEqual([]);
    expect((await again(pinned.resolution?.pins?.slice() ?? null)).layers).toEqual(pinned.layers);
    expect((await again(null)).resolution?.pins).toContain("itsdangerous==2.0.1");
    expect((await again(["itsdangerous==99"])).resolution?.pins?.join()).toMatch(/itsdangerous==2\.[2-9]/);
    // The index of that day had no such version.
    expect((await again(null, "itsdangerous>=2.2\n")).resolution?.pins?.join()).toMatch(/itsdangerous==2\.[2-9]/);
  },
);

test.runIf(isThorough)(
  "BLD-3 the failure with today's versions is reported where those of its day don't help, or there are none",
  async () => {
    const neither = await workshop.tryBuild({}, commit("import itsdangerous.nothing", "2021-12-01T12:00:00Z"));
    expect(neither.result).toMatchObject({ ok: false, diagnosis: { code: "dependency_mismatch" } });
    expect(neither.text).toContain("It doesn't start with those versions, either: ");
    const unpublished = await workshop.tryBuild({}, commit(gone, "2001-01-01T12:00:00Z"));
    expect(unpublished.result).toMatchObject({ ok: false, diagnosis: { phase: "inspect" } });
    expect(unpublished.text).toContain("Those versions can't be installed");
    const today = await workshop.tryBuild({}, commit(gone));
    expect(today.result).toMatchObject({ ok: false });
    expect(today.text).not.toContain("Attempt 2");
  },
);

test.runIf(isThorough)(
  "BLD-3 BLD-16 code that counts on its place in an environment starts when it is installed",
  async () => {
    const project = [
      'name = "deep"',
      'version = "1"',
      'description = ""',
      'requires-python = ">=3.10"',
      'dependencies = ["idna"]',
    ];
    const system = ['requires = ["flit_core"]', 'build-backend = "flit_core.buildapi"'];
    const files = {
      "pyproject.toml": ["[project]", ...project, "[build-system]", ...system].join("\n"),
      "src/deep/__init__.py": "",
      "src/deep/server.py": `from pathlib import Path\nroot = Path(__file__).resolve().parents[5]\n${plainServer}`,
    };
    const { result, text } = await workshop.tryBuild(files, { entrypoint: "deep.server:app" });
    if (!result.ok) throw new Error(text);
    expect(result.manifest?.tools).toHaveLength(1);
    expect(result.warnings).toEqual([]);
    expect(text).toContain("IndexError: 5");
    expect(text).toContain(
      "install step Attempt 2: it may have to be installed, so the project is built as a package.",
    );
  },
);

const forMcp1 = `
import os
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("Old")

@mcp.tool()
def add(a: int, b: int) -> int:
    return a + b
`;

test.runIf(isThorough)(
  "BLD-3 BLD-16 a range that ends at an early mcp 1 is built with what that release worked with",
  async () => {
    const ofMay = await openWorkshop({ uploadedAt: async () => new Date("2025-05-12T12:00:00Z") });
    const { result, text } = await ofMay.tryBuild({ "server.py": forMcp1, "requirements.txt": "mcp~=1.8.0\n" });
    await ofMay.close();
    if (!result.ok) throw new Error(text);
    expect(result.warnings[0]?.detail).toContain("when mcp 1.8.1 was released, it does: pydantic 2.");
  },
);

test.runIf(isThorough)(
  "BLD-3 BLD-16 code for an early mcp 1 is built with it and with what it worked with",
  async () => {
    const early = forMcp1.replace('FastMCP("Old")', 'FastMCP("Old", version="1")');
    const { result, text } = await workshop.tryBuild({ "server.py": early, "requirements.txt": "mcp\n" });
    if (!result.ok) throw new Error(text);
    expect(text).toContain("install step Attempt 2: with mcp<2");
    expect(result.warnings.map(({ title }) => title)).toEqual(["The server runs with dependencies of 2025-07-16"]);
    expect(result.warnings[0]?.detail).toContain("when mcp 1.11 was the newest, it does: mcp 1.11.0 (today 2.");
  },
);

test.runIf(isThorough)(
  "BLD-3 BLD-16 code for mcp 1 that requires no version is built with it, however new, and its author is warned",
  async () => {
    const { result, log, text } = await workshop.tryBuild({ "server.py": forMcp1, "requirements.txt": "mcp\n" });
    if (!result.ok) throw new Error(text);
    expect(result.manifest?.tools.map(({ tool_name }) => tool_name)).toEqual(["add"]);
    const [{ code, title, detail, remedy } = { code: "", title: "", detail: "", remedy: "" }, ...others] =
      result.warnings;
    expect([code, title, others]).toEqual([
      "requirement_added",
      "The server needs mcp<2, which its requirements don't say",
      [],
    ]);
    expect(detail).toMatch(/With `mcp<2` it does: mcp 1\.[\d.]+ \(today \d/);
    expect(remedy).toContain("Require `mcp<2` in `requirements.txt` and push");
    expect(log.filter(({ phase, kind }) => phase === "plan" && kind === "result")).toHaveLength(1);

    // A further problem is reported to its author.
    const lacking = `${forMcp1}\nkey = os.environ["SHOP_KEY"]\n`;
    const second = await workshop.tryBuild({ "server.py": lacking, "requirements.txt": "mcp\n" });
    expect(second.result).toMatchObject({
      ok: false,
      diagnosis: { code: "variable_missing", action: { kind: "variables", names: ["SHOP_KEY"] } },
    });
  },
);

test.runIf(isThorough)("BLD-16 code that passes what FastMCP 3 refuses is built with an older one", async () => {
  const code = `from fastmcp import FastMCP\nmcp = FastMCP("Old", port=9000)\n@mcp.tool\ndef add(a: int) -> int:\n    return a\n`;
  const { result, text } = await workshop.tryBuild({ "server.py": code, "requirements.txt": "fastmcp\n" });
  if (!result.ok) throw new Error(text);
  expect(result.warnings.map(({ title }) => title).join()).toContain("fastmcp<3");
});
