import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { accessOf, clientGuides } from "./client-guides.ts";
import type { ClientAccess } from "./guide-types.ts";
import { reachabilityProblem } from "./hosted-guides.ts";

const url = "http://localhost:8080/brave-teal-otter/mcp";
const server = { name: "brave-teal-otter", url };
const withKey: ClientAccess = { way: "key", key: "tp_new" };
const guide = (id: string, access: ClientAccess, of = server) => {
  const found = clientGuides(of, access).find((each) => each.id === id);
  if (!found) throw new Error(`there is no guide ${id}`);
  return found;
};
const parse = (id: string, access: ClientAccess) => JSON.parse(guide(id, access).snippet?.code ?? "");
/** The configuration in an install link, as the client reads it. */
const configOf = (href: string | undefined) => JSON.parse(atob(new URL(href ?? "").searchParams.get("config") ?? ""));

test("PRJ-15 every client that the product names has a guide with the server's URL", () => {
  const guides = clientGuides(server, accessOf("towpath-cloud"));
  expect(guides.map(({ label }) => label)).toEqual(
    expect.arrayContaining([
      "Cursor",
      "VS Code",
      "Claude Code",
      "Claude",
      "ChatGPT",
      "Codex",
      "Gemini CLI",
      "Windsurf",
      "LM Studio",
    ]),
  );
  for (const { steps, snippet } of guides) expect([snippet?.code, ...steps].join("\n")).toContain(url);
});

test("PRJ-12 guides of public and passthrough servers mention no key", () => {
  for (const mode of ["towpath-public", "passthrough"] as const) {
    expect(JSON.stringify(clientGuides(server, accessOf(mode)))).not.toMatch(/API_KEY|Authorization|Bearer|oauth/);
  }
});

test("PRJ-12 to a members-only server clients sign in where they can; the others get a key", () => {
  const guides = clientGuides(server, accessOf("towpath-cloud"));
  const keyed = guides.filter(({ snippet }) => snippet?.code.includes("YOUR_API_KEY")).map(({ id }) => id);
  expect(keyed).toEqual(["lm-studio", "typescript", "curl"]);
  expect(guide("codex", accessOf("towpath-cloud")).snippet?.code).toContain("codex mcp login brave-teal-otter");
  expect(guide("python", accessOf("towpath-cloud")).snippet?.code).toContain('auth="oauth"');
});

test("KEY-3 a snippet contains a key only where the client keeps it private, and a link never does", () => {
  for (const { id, link, snippet } of clientGuides(server, withKey)) {
    expect(link?.href ?? "", id).not.toContain("tp_new");
    expect(link?.href ?? "", id).not.toContain(btoa("tp_new").slice(0, 6));
    // A workspace's file is committed, so VS Code asks for the key instead.
    if (snippet && id !== "vscode") expect(snippet.code, id).toContain("tp_new");
  }
  expect(JSON.stringify(guide("vscode", withKey))).not.toContain("tp_new");
});

test("PRJ-15 links hand Cursor, VS Code and LM Studio the server's name and settings", () => {
  const cursor = new URL(guide("cursor", withKey).link?.href ?? "");
  expect([cursor.protocol, cursor.host, cursor.pathname]).toEqual([
    "cursor:",
    "anysphere.cursor-deeplink",
    "/mcp/install",
  ]);
  expect(cursor.searchParams.get("name")).toBe(server.name);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Cursor's own syntax
  expect(configOf(cursor.href)).toEqual({ url, headers: { Authorization: "Bearer ${env:TOWPATH_API_KEY}" } });
  expect(configOf(guide("cursor", { way: "open" }).link?.href)).toEqual({ url });
  const vscode = new URL(guide("vscode", { way: "open" }).link?.href ?? "");
  expect(vscode.href).toMatch(/^vscode:mcp\/install\?/);
  expect(JSON.parse(decodeURIComponent(vscode.search.slice(1)))).toEqual({ name: server.name, type: "http", url });
  expect(configOf(guide("lm-studio", { way: "open" }).link?.href)).toEqual({ url });
});

test("PRJ-15 files are valid JSON with the keys that each client reads", () => {
  const headers = { Authorization: "Bearer tp_new" };
  expect(parse("cursor", withKey)).toEqual({ mcpServers: { [server.name]: { url, headers } } });
  expect(parse("windsurf", withKey)).toEqual({ mcpServers: { [server.name]: { serverUrl: url, headers } } });
  expect(parse("lm-studio", withKey)).toEqual({ mcpServers: { [server.name]: { url, headers } } });
  expect(parse("vscode", { way: "open" })).toEqual({ servers: { [server.name]: { type: "http", url } } });
  expect(parse("vscode", withKey).inputs).toMatchObject([{ type: "promptString", password: true }]);
});

test("PRJ-15 no name breaks out of a command, a file or a link", () => {
  const name = `it's "$(touch pwned)" \`id\` & ü\n--x`;
  const hostile = { name, url: "https://example.com/a'b$(id)/mcp" };
  for (const id of ["claude-code", "codex", "gemini-cli"]) {
    const [command = ""] = (guide(id, { way: "open" }, hostile).snippet?.code ?? "")
      .split(/^(?:claude|codex|gemini) /m)
      .slice(1);
    const argv = execFileSync("sh", ["-c", `printf '%s\\0' ${command}`], { encoding: "utf8" }).split("\0");
    expect(argv, id).toContain(name);
    expect(argv, id).toContain(hostile.url);
  }
  for (const id of ["cursor", "windsurf", "lm-studio", "stdio"]) {
    const file = JSON.parse(guide(id, withKey, hostile).snippet?.code ?? "");
    expect(Object.keys(file.mcpServers)).toEqual([name]);
  }
  expect(new URL(guide("cursor", { way: "open" }, hostile).link?.href ?? "").searchParams.get("name")).toBe(name);
  expect(configOf(guide("cursor", { way: "open" }, hostile).link?.href)).toEqual({ url: hostile.url });
});

test("PRJ-15 guides say when a server can't be reached from the internet", () => {
  expect(guide("claude", { way: "open" }).note).toContain("`localhost` can only be reached from your network.");
  const problems = [
    "https://tools.example.com/mcp",
    "http://tools.example.com/mcp",
    "https://10.1.2.3/mcp",
    "https://172.20.0.1/mcp",
    "https://[fd00::1]/mcp",
    "https://a.localhost/mcp",
    "https://172.32.0.1/mcp",
  ].map((each) => reachabilityProblem(each) !== null);
  expect(problems).toEqual([false, true, true, true, true, true, false]);
});
