import { type Manifest, manifestSchema } from "@towpath/mcp/manifest";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { connectApi } from "../instance/api.ts";
import { bold, CommandError, dim, output, plain, print } from "../terminal/terminal.ts";
import { projectPath } from "./list.ts";

const answerSchema = z.object({ manifest: manifestSchema.nullable() });

/** `towpath inspect NAME`: prints the live server's manifest, recorded by its build. Doesn't wake a sleeping server. */
export async function inspect(args: string[]): Promise<number> {
  const { values, positionals } = parse("inspect", args);
  const [name = ""] = positionals;
  const api = await connectApi(values);
  const { manifest } = await api.call("GET", `${projectPath(name)}/manifest`, answerSchema);
  if (!manifest) throw new CommandError(`${name} isn't live yet. See towpath status ${name}.`);
  output(manifest, () => printManifest(manifest));
  return 0;
}

function printManifest({ server, tools, resources, templates, prompts }: Manifest): void {
  print(`${bold(plain(server.name))} ${dim(plain(server.version))}`);
  section("Tools", tools, (tool) => [`${tool.tool_name}(${argumentsText(tool.inputSchema)})`, tool.description]);
  section("Resources", resources, (resource) => [resource.uri, resource.description ?? resource.resource_name]);
  section("Resource templates", templates, (each) => [each.uriTemplate, each.description ?? each.template_name]);
  section("Prompts", prompts, (prompt) => [
    `${prompt.prompt_name}(${prompt.arguments.map(({ name, required }) => (required ? name : `${name}?`)).join(", ")})`,
    prompt.description,
  ]);
}

function section<Item>(
  title: string,
  items: readonly Item[],
  textsOf: (item: Item) => readonly [head: string, description: string | null],
): void {
  if (items.length === 0) return;
  print(`\n${bold(title)}`);
  for (const item of items) {
    const [head, description] = textsOf(item);
    print(`  ${plain(head)}`);
    const [line = ""] = (description ?? "").trim().split("\n");
    if (line !== "") print(`    ${dim(plain(line))}`);
  }
}

const inputSchema = z.looseObject({
  properties: z.record(z.string(), z.looseObject({ type: z.unknown() }).or(z.boolean())).default({}),
  required: z.array(z.string()).default([]),
});

/** Such as `text: string, times?: integer`. */
function argumentsText(schema: unknown): string {
  const parsed = inputSchema.safeParse(schema);
  if (!parsed.success) return "…";
  const { properties, required } = parsed.data;
  return Object.entries(properties)
    .map(([name, property]) => {
      const type = typeof property === "object" && typeof property.type === "string" ? `: ${property.type}` : "";
      return `${name}${required.includes(name) ? "" : "?"}${type}`;
    })
    .join(", ");
}
