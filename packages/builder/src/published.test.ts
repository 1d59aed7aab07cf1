import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import type { BuildRequest, BuildResult } from "./index.ts";
import { openWorkshop, type Workshop } from "./testing/try-build.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

// A dozen published servers of different shapes, unchanged from the package index, with empty settings: by default
// those that no other test covers, with `./towpath test thorough` all. `./towpath test corpus` tries seventy, and
// compares them with their own documentation.

type Published = {
  readonly package: string;
  readonly shape: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly arguments?: readonly string[];
  /** Whether it is built by default. */
  readonly isUsual?: boolean;
  /** Tools that it offers, some or all; or the diagnosis that names why it can't. */
  readonly expected: { readonly tools: readonly string[] } | { readonly code: string; readonly says: string };
};

const published: readonly Published[] = [
  { package: "mcp-server-rss==0.1.0", shape: "FastMCP 2", expected: { tools: ["feed"] } },
  {
    package: "cli-mcp-server==0.2.5",
    shape: "a variable that it checks by itself",
    expected: { code: "variable_missing", says: "ALLOWED_DIR" },
  },
  {
    package: "mcp-server-duckdb==1.1.0",
    shape: "an argument that it lacks",
    expected: { code: "arguments_missing", says: "--db-path" },
  },
  {
    package: "mcp-server-stats==0.2.2",
    shape: "setup.py, and a requirement that is too old for the code",
    expected: { code: "dependency_mismatch", says: "mcp.server.fastmcp" },
  },
  {
    package: "mcp-server-time==2026.10.19",
    isUsual: true,
    shape: "mcp 2, argparse, src layout, locked",
    expected: { tools: ["convert_time", "get_current_time"] },
  },
  {
    package: "mysql-mcp-server==0.4.4",
    shape: "low-level server of mcp 1",
    expected: { tools: ["execute_sql", "get_schema_info", "get_table_sample"] },
  },
  {
    package: "minimax-coding-plan-mcp==0.0.5",
    shape: "a variable that is set",
    environment: { MINIMAX_API_KEY: "made-up", MINIMAX_API_HOST: "https://minimax.invalid" },
    expected: { tools: ["understand_image", "web_search"] },
  },
  {
    package: "comfy-mcp-server==0.1.11",
    shape: "FastMCP of mcp 1.2, over a bridge",
    environment: {
      COMFY_URL: "http://comfy.invalid",
      COMFY_WORKFLOW_JSON_FILE: "workflow.json",
      PROMPT_NODE_ID: "1",
      OUTPUT_NODE_ID: "2",
    },
    expected: { tools: ["generate_image"] },
  },
  {
    package: "excel-mcp-server==2.2.2",
    shape: "a subcommand",
    arguments: ["stdio"],
    expected: { tools: ["create_workbook"] },
  },
  {
    package: "mcp-server-say-hello==0.1.3",
    shape: "low-level server for mcp 1 that requires no version",
    expected: { tools: ["say_hello"] },
  },
  {
    package: "arithmo-mcp-server==0.1.0",
    isUsual: true,
    shape: "a console script of a module that the package lacks",
    expected: { code: "module_missing", says: "simple_calculator" },
  },
  {
    package: "whois-mcp-server==0.1.5",
    shape: "two console scripts, and another major version of the SDK, with which it is built",
    expected: { tools: ["mcp_whois_query"] },
  },
];

const tried = published.filter(({ isUsual }) => isThorough || isUsual);

/** Addresses of the source distributions, by package: each is an archive with one directory, as GitHub's are. */
let sources: ReadonlyMap<string, string>;
let workshop: Workshop;

beforeAll(async () => {
  sources = await findSources(tried.map((each) => each.package));
  workshop = await openWorkshop();
});
afterAll(() => workshop?.close());

async function findSources(requirements: readonly string[]): Promise<Map<string, string>> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-published-"));
  try {
    const [input, output] = [join(directory, "requirements.txt"), join(directory, "pylock.toml")];
    await writeFile(input, requirements.join("\n"));
    const options = ["--quiet", "--no-deps", "--no-binary", ":all:", "--python-version", "3.14"];
    await promisify(execFile)("uv", [
      "pip",
      "compile",
      ...options,
      "--format",
      "pylock.toml",
      "--output-file",
      output,
      input,
    ]);
    const found = (await readFile(output, "utf8")).matchAll(
      /^name = "(.+)"\nversion = "(.+)"\nsdist = \{ url = "(.+?)"/gm,
    );
    return new Map([...found].map(([, name, version, url]) => [`${name}==${version}`, url ?? ""]));
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function build(server: Published): Promise<BuildResult> {
  const request: Partial<BuildRequest> = {
    entrypoint: "",
    arguments: server.arguments ?? [],
    environment: server.environment ?? {},
    openTarball: async (signal) => {
      const { body } = await fetch(sources.get(server.package) ?? "", { signal });
      if (body === null) throw new Error(`The index has no ${server.package}.`);
      return body;
    },
  };
  return (await workshop.tryBuild({}, request)).result;
}

test.each(tried)("BLD-2 BLD-16 a published server with nothing named: $package ($shape)", async (server) => {
  const result = await build(server);
  if ("tools" in server.expected) {
    if (!result.ok) throw new Error(JSON.stringify(result.diagnosis, null, 2));
    const tools = result.manifest?.tools.map(({ tool_name }) => tool_name);
    expect(tools).toEqual(expect.arrayContaining([...server.expected.tools]));
    return;
  }
  expect(result.ok ? null : result.diagnosis.code).toBe(server.expected.code);
  expect(JSON.stringify(result)).toContain(server.expected.says);
});
