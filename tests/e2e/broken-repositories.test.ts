import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { towpath } from "../instance/towpath-process.ts";
import { isThorough, rounds } from "../thorough.ts";

const name = "broken-repository";
const dataDirectory = inject("dataDirectory");
const url = `${inject("serversUrl")}/${name}/mcp`;
let directory: string;

const good = plainServer({ ping: '"pong"' });

async function deployWith(files: Record<string, string>, ...options: string[]) {
  await rm(directory, { recursive: true, force: true });
  for (const [path, text] of Object.entries({ "requirements.txt": plainRequirements, ...files })) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
  return towpath("deploy", directory, "--name", name, "--public", "--data-dir", dataDirectory, ...options);
}

async function callLive(): Promise<unknown> {
  const client = new Client({ name: "e2e", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { content } = await client.callTool({ name: "ping", arguments: {} });
  await client.close();
  return content;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-broken-"));
  const deployed = await deployWith({ "server.py": good });
  expect(deployed.stdout + deployed.stderr).toContain(`Live: ${url}`);
});

afterAll(() => rm(directory, { recursive: true, force: true }));

const floodMegabytes = rounds(16, 128);
const flood = `import sys
block = ("x" * 1023 + "\\n") * 1024
for _ in range(${floodMegabytes}):
    sys.stdout.write(block)
raise SystemExit(3)
`;

// The problem, the files, the entrypoint, the terminal's expected output: one case for each phase, of which a
// usual run has the first. The builder's tests have the diagnoses of all, limits included.
const cases: [string, Record<string, string>, string, RegExp][] = [
  ["no entrypoint", { "other.py": good }, "server.py", /server\.py/],
  [
    "a package that does not exist",
    { "server.py": good, "requirements.txt": "towpath-no-such-package-xyz==1\n" },
    "server.py",
    /towpath-no-such-package-xyz/,
  ],
  [
    "a missing variable",
    { "server.py": `import os\nKEY = os.environ["WEATHER_KEY"]\n${good}` },
    "server.py",
    /WEATHER_KEY/,
  ],
  // On a busy machine it ends by the limit for starts.
  [`${floodMegabytes} megabytes of log`, { "server.py": flood }, "server.py", /exit|did not start in time/i],
];

test.each(isThorough ? cases : cases.slice(0, 1))(
  "BLD-2 %s: a clear failure, status 1, the live version answers on",
  async (_, files, entrypoint, problem) => {
    const failed = await deployWith(files, "--entrypoint", entrypoint);
    expect(failed.status).toBe(1);
    expect(failed.stderr).toMatch(problem);
    expect(failed.stderr).toContain("What to do:");
    expect(await callLive()).toEqual([expect.objectContaining({ text: "pong" })]);
  },
);

test.runIf(isThorough)("VAL-1 VAL-2 the terminal refuses what the form refuses, with the same errors", async () => {
  const short = await towpath(
    "deploy",
    directory,
    "--name",
    "abc",
    "--entrypoint",
    "server.py",
    "--data-dir",
    dataDirectory,
  );
  expect(short.status).toBe(1);
  expect(short.stderr).toContain("Project name must be at least 6 characters long");
  const parent = await towpath(
    "deploy",
    directory,
    "--name",
    "abcdef",
    "--entrypoint",
    "../x.py",
    "--data-dir",
    dataDirectory,
  );
  expect(parent.stderr).toContain("Entrypoint cannot reference parent directories");
});
