import type { Manifest } from "@towpath/mcp/manifest";
import { type CatalogItem, createCatalog } from "@towpath/mcp/portal";
import { z } from "zod";
import { authModeSchema } from "../project/project.schema.ts";
import { projectPathName } from "../reserved-names/index.ts";
import { iconUrl } from "../server-icon/internal.ts";
import type { PortalRow, PortalServer } from "./portal.store.ts";

/** One thing that a server of a portal offers. */
const portalItemSchema = z.object({
  own: z.string().describe("its server's name for it; of resources and templates the URI"),
  exposed: z.string().nullable().describe("the portal's name for it; null: left out"),
  title: z.string().nullable(),
  description: z.string().nullable(),
});
type PortalItemView = z.infer<typeof portalItemSchema>;

const portalItems = z.array(portalItemSchema).readonly();
const chosenNames = z.array(z.string()).readonly().nullable();

const portalServerSchema = z.object({
  projectId: z.uuid(),
  name: z.string(),
  pathName: z.string(),
  iconUrl: z.string().nullable(),
  kind: z.enum(["hosted", "external"]),
  authMode: authModeSchema,
  prefix: z.string(),
  chosen: z
    .object({ tools: chosenNames, resources: chosenNames, prompts: chosenNames })
    .describe("null: all, later additions too"),
  tools: portalItems,
  resources: portalItems.describe("and templates"),
  prompts: portalItems,
  problem: z.enum(["not_live", "own_sign_in"]).nullable().describe("why nobody reaches it through the portal"),
});

export const portalViewSchema = z.object({
  instructions: z.string().nullable(),
  servers: z.array(portalServerSchema).readonly(),
  /** For the next change: see `UpdatePortalInput`. */
  revision: z.number().int(),
});
export type PortalView = z.infer<typeof portalViewSchema>;

export function portalView(row: PortalRow, members: readonly PortalServer[]): PortalView {
  const catalog = createCatalog(members);
  return {
    instructions: row.instructions,
    servers: members.map((member) => {
      const { projectId, prefix, project, manifest } = member;
      const exposedBy = (items: readonly CatalogItem<unknown>[]) =>
        new Map(items.filter((item) => item.projectId === projectId).map(({ own, exposed }) => [own, exposed]));
      const resources = [...(manifest?.resources ?? []), ...(manifest?.templates ?? [])];
      const authMode = authModeSchema.catch("towpath-cloud").parse(project.authMode);
      return {
        projectId,
        prefix,
        authMode,
        name: project.name,
        pathName: projectPathName(project),
        iconUrl: iconUrl(member.iconHash),
        kind: project.kind === "external" ? "external" : "hosted",
        chosen: { tools: member.tools, resources: member.resources, prompts: member.prompts },
        tools: items(manifest?.tools ?? [], ({ tool_name }) => tool_name, exposedBy(catalog.tools)),
        resources: items(resources, uriOf, exposedBy([...catalog.resources, ...catalog.templates])),
        prompts: items(manifest?.prompts ?? [], ({ prompt_name }) => prompt_name, exposedBy(catalog.prompts)),
        problem: authMode === "passthrough" ? "own_sign_in" : manifest === null ? "not_live" : null,
      };
    }),
    revision: row.revision,
  };
}

const uriOf = (item: Manifest["resources"][number] | Manifest["templates"][number]) =>
  "uri" in item ? item.uri : item.uriTemplate;

type Described = { readonly title: string | null; readonly description: string | null };

function items<Item extends Described>(
  all: readonly Item[],
  nameOf: (item: Item) => string,
  exposed: ReadonlyMap<string, string>,
): readonly PortalItemView[] {
  return all.map((item) => {
    const own = nameOf(item);
    return { own, exposed: exposed.get(own) ?? null, title: item.title, description: item.description };
  });
}
