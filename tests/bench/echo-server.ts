import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { modernCall } from "../instance/modern-call.ts";

/** A small FastMCP server whose tool answers with `word`, which identifies the version. */
export const serverSource = (word: string) => `from fastmcp import FastMCP

mcp = FastMCP("Bench")


@mcp.tool
def word() -> str:
    return "${word}"


if __name__ == "__main__":
    import sys

    mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
`;

export async function writeServer(word: string, requirements: string): Promise<string> {
  const directory = join(await mkdtemp(join(tmpdir(), "towpath-bench-server-")), "server");
  await mkdir(directory);
  await writeFile(join(directory, "server.py"), serverSource(word));
  await writeFile(join(directory, "requirements.txt"), requirements);
  return directory;
}

/** One call of the tool from a new client, like a user's first call. */
export async function callWord(url: string): Promise<string> {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  try {
    const result = await client.callTool({ name: "word", arguments: {} });
    const [first] = Array.isArray(result.content) ? result.content : [];
    return first?.type === "text" ? first.text : "";
  } finally {
    await client.close();
  }
}

/** One request of the modern era: the shortest way to an answer. */
export async function postOnce(url: string): Promise<void> {
  const response = await fetch(url, modernCall("word", {}, "bench"));
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text}`);
}
