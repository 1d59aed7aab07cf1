import type { Manifest } from "@towpath/mcp/manifest";
import { type CatalogItem, createCatalog } from "@towpath/mcp/portal";
import { type AuthMode, authModeSchema } from "../project/project.schema.ts";
import { projectPathName } from "../reserved-names/index.ts";
import type { PortalRow, PortalServer } from "./portal.store.ts";

/** One thing that a server of a portal offers. */
type PortalItemView = {
  /** Its server's name for it; of resources and templates the URI. */
  readonly own: string;
  /** The portal's name for it; null: the portal leaves it out. */
  readonly exposed: string | null;
  readonly title: string | null;
  readonly description: string | null;
};

type PortalServerView = {
  readonly projectId: string;
  readonly name: string;
  readonly pathName: string;
  readonly kind: "hosted" | "external";
  readonly authMode: AuthMode;
  readonly prefix: string;
  /** What was chosen; null: all, later additions too. */
  readonly chosen: {
    readonly tools: readonly string[] | null;
    readonly resources: readonly string[] | null;
    readonly prompts: readonly string[] | null;
  };
  readonly tools: readonly PortalItemView[];
  /** And templates. */
  readonly resources: readonly PortalItemView[];
  readonly prompts: readonly PortalItemView[];
  /** Why nobody reaches it through the portal; null: who may call it does. */
  readonly problem: "not_live" | "own_sign_in" | null;
};

export type PortalView = {
  readonly instructions: string | null;
  readonly servers: readonly PortalServerView[];
  /** For the next change: see `UpdatePortalInput`. */
  readonly revision: number;
};

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
