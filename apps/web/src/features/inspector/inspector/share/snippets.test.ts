import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Talker, talker } from "@towpath/mcp/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ServerCall } from "../server-call.ts";
import { curlSnippet, pythonSnippet, typescriptSnippet } from "./snippets.ts";

const run = promisify(execFile);
const servers: Record<string, Talker> = {};
beforeAll(async () => {
  servers["2026-07-28"] = await talker("modern");
  servers["2025-11-25"] = await talker("legacy");
});
afterAll(async () => {
  for (const server of Object.values(servers)) await server.close();
});

const call: ServerCall = { kind: "tool", name: "work", arguments: { steps: 1, note: `it's "$HOME" \`date\` \\ é` } };
const common = { url: "https://a.example/mcp", protocolVersion: "2026-07-28", keyVariable: "TOWPATH_API_KEY" };

test.each(["2026-07-28", "2025-11-25"])(
  "PRJ-4 the call as curl, run by a shell, is answered by a server of %s",
  async (protocolVersion) => {
    const server = servers[protocolVersion] as Talker;
    const script = curlSnippet({ url: server.url, protocolVersion, keyVariable: null, call });
    const { stdout } = await run("sh", ["-c", script]);
    expect(stdout).toContain("**done** after 1");
  },
);

test("PRJ-4 curl has the key by the name of its variable, which the shell fills in", async () => {
  const server = servers["2026-07-28"] as Talker;
  const script = curlSnippet({ ...common, url: server.url, call });
  expect(script).toContain('-H "Authorization: Bearer $TOWPATH_API_KEY"');
  await run("sh", ["-c", script], { env: { ...process.env, TOWPATH_API_KEY: "tp_key" } });
  expect(server.requests.at(-1)?.headers.authorization).toBe("Bearer tp_key");
});

test("PRJ-4 Python: arguments are literals of the language, and no text breaks out of them", async () => {
  const args = { on: true, off: null, list: [1, "a'b\"c\\"], name: "é\n" };
  const code = pythonSnippet({ ...common, call: { kind: "tool", name: "work", arguments: args } });
  expect(code).toContain('auth=os.environ["TOWPATH_API_KEY"]');
  const literal = /call_tool\("work", (.*)\)$/m.exec(code)?.[1] ?? "";
  const directory = await mkdtemp(join(tmpdir(), "snippet-"));
  try {
    const file = join(directory, "snippet.py");
    await writeFile(
      file,
      `import ast, json\nast.parse(${JSON.stringify(code)})\nprint(json.dumps(ast.literal_eval(${JSON.stringify(literal)})))`,
    );
    const { stdout } = await run("python3", [file]);
    expect(JSON.parse(stdout)).toEqual(args);
  } finally {
    await rm(directory, { recursive: true });
  }
  expect(pythonSnippet({ ...common, keyVariable: null, call: { kind: "resource", uri: "a://b" } })).toContain(
    'Client("https://a.example/mcp") as client:\n        result = await client.read_resource("a://b")',
  );
});

test("PRJ-4 TypeScript: the call with the SDK, the key from the environment", () => {
  const code = typescriptSnippet({ ...common, call: { kind: "prompt", name: "p", arguments: { a: "</script>" } } });
  expect(code).toMatch(/Authorization: `Bearer \$\{process\.env\.TOWPATH_API_KEY\}`/);
  expect(code).toContain('client.getPrompt({\n  "name": "p",\n  "arguments": {\n    "a": "</script>"\n  }\n})');
});
