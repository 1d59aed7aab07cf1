import type { Manifest } from "@towpath/mcp/manifest";
import { jsonSchema, type ToolSet, tool } from "ai";

type ManifestTool = Manifest["tools"][number];

/** The maximum of models; they choose worse long before. */
const maxTools = 128;
/** All schemas and descriptions together, as JSON: each question sends them. */
const maxSchemaLength = 300_000;
const maxNameLength = 64;
const maxDescriptionLength = 4_000;

/** Translates names of tools to those that models accept (letters, digits, `_`, `-`), and back. */
export type ToolNames = { forModel(tool: string): string; ofServer(name: string): string | undefined };

function toolNames(tools: readonly string[]): ToolNames {
  const forModel = new Map<string, string>();
  const ofServer = new Map<string, string>();
  for (const tool of tools) {
    const plain = plainName(tool);
    let name = plain;
    for (let count = 2; ofServer.has(name); count += 1) name = `${plain.slice(0, maxNameLength - 4)}_${count}`;
    forModel.set(tool, name);
    ofServer.set(name, tool);
  }
  return { forModel: (tool) => forModel.get(tool) ?? plainName(tool), ofServer: (name) => ofServer.get(name) };
}

const plainName = (tool: string) => tool.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, maxNameLength) || "tool";

/**
 * A server's tools for a model. They have no `execute`: the turn calls them itself. `left`: names of tools beyond the
 * limits of number and size. Schemas are passed on unchanged and never compiled.
 */
export function toolsForModel(
  tools: readonly Pick<ManifestTool, "tool_name" | "title" | "description" | "inputSchema">[],
): {
  readonly set: ToolSet;
  readonly names: ToolNames;
  readonly left: readonly string[];
} {
  const names = toolNames(tools.map(({ tool_name }) => tool_name));
  const set: ToolSet = {};
  const left: string[] = [];
  let length = 0;
  for (const { tool_name, title, description, inputSchema } of tools) {
    const text = (description ?? title ?? tool_name).slice(0, maxDescriptionLength);
    length += JSON.stringify(inputSchema).length + text.length;
    if (length > maxSchemaLength || Object.keys(set).length >= maxTools) left.push(tool_name);
    else set[names.forModel(tool_name)] = tool({ description: text, inputSchema: jsonSchema(asObject(inputSchema)) });
  }
  return { set, names, left };
}

/** Models refuse a schema whose root is no object. */
const asObject = (schema: Readonly<Record<string, unknown>>) => ({
  properties: {},
  ...schema,
  type: "object" as const,
});

/**
 * Whether the person must approve a call, by the tool's annotations (MCP, ToolAnnotations) with the specification's
 * defaults: a tool without annotations may be destructive.
 */
export function needsApproval(found: ManifestTool | undefined): boolean {
  const { readOnlyHint, destructiveHint } = found?.annotations ?? {};
  return readOnlyHint !== true && destructiveHint !== false;
}
