import { manifestSchema } from "@towpath/mcp/manifest";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { type Api, connectApi } from "../instance/api.ts";
import { CommandError, output, plain, print, printError, UsageError } from "../terminal/terminal.ts";
import { projectPath } from "./list.ts";

/** A tool may take minutes. */
const timeoutMs = 300_000;

const projectSchema = z.object({ url: z.string(), authMode: z.string() });
const contentSchema = z.array(z.looseObject({ type: z.string(), text: z.string().optional() }));

/** `towpath call NAME TOOL`: through the gateway, as any client. Exit status 1 when the tool answers with an error. */
export async function call(args: string[]): Promise<number> {
  const { values, positionals } = parse("call", args);
  const [name = "", tool = "", ...pairs] = positionals;
  if (values.args !== undefined && pairs.length > 0) throw new UsageError("Pass --args or KEY=VALUE, not both.");
  const api = await connectApi(values);
  const { url, authMode } = await api.call("GET", projectPath(name), projectSchema);
  const given = values.args === undefined ? await typedArguments(api, name, tool, pairs) : jsonArguments(values.args);
  const { McpClientError, openClient } = await import("@towpath/mcp/client");
  try {
    const headers = await headersFor(api, name, authMode);
    const client = await openClient({ url, headers }, { clientName: "towpath-cli", timeoutMs });
    try {
      const { result } = await client.callTool(tool, given, { timeoutMs });
      output(result, () => printResult(result));
      return result.isError === true ? 1 : 0;
    } finally {
      await client.close();
    }
  } catch (error) {
    if (error instanceof McpClientError) throw new CommandError(error.message);
    throw error;
  }
}

/** The operator's token opens no server: beside the instance an admin JWT is used. */
async function headersFor(api: Api, name: string, authMode: string): Promise<Record<string, string>> {
  if (authMode !== "towpath-cloud") return {};
  if (api.key !== null) return { authorization: `Bearer ${api.key}` };
  const { token } = await api.call("POST", `${projectPath(name)}/admin-jwt`, z.object({ token: z.string() }));
  return { authorization: `Bearer ${token}` };
}

function jsonArguments(text: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    throw new UsageError('--args must be a JSON object, such as --args \'{"text": "hello"}\'.');
  }
}

const schemaOfTool = z.looseObject({ properties: z.record(z.string(), z.looseObject({ type: z.unknown() })) });

/** Parses values as JSON, except those of string arguments and those that aren't JSON. */
async function typedArguments(api: Api, name: string, tool: string, pairs: readonly string[]) {
  if (pairs.length === 0) return {};
  const path = `${projectPath(name)}/manifest`;
  const { manifest } = await api.call("GET", path, z.object({ manifest: manifestSchema.nullable() }));
  const found = manifest?.tools.find(({ tool_name }) => tool_name === tool);
  const { properties = {} } = schemaOfTool.safeParse(found?.inputSchema).data ?? {};
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new UsageError(`${pair} is not KEY=VALUE.`);
      const [key, value] = [pair.slice(0, at), pair.slice(at + 1)];
      return [key, properties[key]?.type === "string" ? value : jsonOrText(value)];
    }),
  );
}

function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function printResult(result: Readonly<Record<string, unknown>>): void {
  const show = result.isError === true ? printError : print;
  const content = contentSchema.safeParse(result.content);
  const blocks = content.data ?? [];
  if (blocks.length === 0) show(JSON.stringify(result.structuredContent ?? result));
  for (const block of blocks) {
    // A server chose the text: its lines stay, its control characters don't.
    const text = block.text?.split("\n").map(plain).join("\n");
    show(block.type === "text" && text !== undefined ? text : JSON.stringify(block));
  }
}
