import { firstModernVersion, type Manifest } from "../manifest/index.ts";

/** A server of a portal, with its items in the portal. Null in place of a list: all items. */
export type PortalMember = {
  readonly projectId: string;
  /** Letters, digits and hyphens; no two members have the same. */
  readonly prefix: string;
  readonly tools: readonly string[] | null;
  /** URIs, and URI templates. */
  readonly resources: readonly string[] | null;
  readonly prompts: readonly string[] | null;
  /** Null: its lists are unknown. */
  readonly manifest: Manifest | null;
};

/** An item of a portal. */
export type CatalogItem<Item> = {
  readonly projectId: string;
  /** Its name for clients, or the URI of a resource. */
  readonly exposed: string;
  /** Its server's own name for it. */
  readonly own: string;
  readonly item: Item;
};

/** All items of a portal, in the order of its servers. */
export type Catalog = {
  readonly tools: readonly CatalogItem<Manifest["tools"][number]>[];
  readonly resources: readonly CatalogItem<Manifest["resources"][number]>[];
  readonly templates: readonly CatalogItem<Manifest["templates"][number]>[];
  readonly prompts: readonly CatalogItem<Manifest["prompts"][number]>[];
};

const byName = (prefix: string, name: string) => `${prefix}_${name}`;
/** Valid as the scheme of a URI too (RFC 3986, section 3.1). */
const byScheme = (prefix: string, uri: string) => `${prefix}+${uri}`;

/**
 * Merges the items of a portal's servers (ORG-3). An item keeps its own name if no other chosen item of its kind has
 * it. If several have it, each of them gets its server's prefix (`weather_search`; for URIs `weather+file:///a`) and
 * none keeps the plain name: otherwise a server could take over the calls of another one by a tool of the same name.
 */
export function createCatalog(members: readonly PortalMember[]): Catalog {
  const all = <Item>(
    listOf: (manifest: Manifest) => readonly Item[],
    chosenOf: (member: PortalMember) => readonly string[] | null,
    own: (item: Item) => string,
    join: (prefix: string, own: string) => string,
  ): CatalogItem<Item>[] => {
    const found = members.flatMap((member) => {
      const chosen = chosenOf(member);
      const items = new Map((member.manifest ? listOf(member.manifest) : []).map((item) => [own(item), item]));
      return [...items]
        .filter(([name]) => chosen === null || chosen.includes(name))
        .map(([name, item]) => ({ member, own: name, item }));
    });
    const names = distinctNames(
      found.map(({ member, own: name }) => ({ prefix: member.prefix, name })),
      join,
    );
    return found.map(({ member, own: name, item }, at) => ({
      projectId: member.projectId,
      own: name,
      item,
      exposed: names[at] ?? name,
    }));
  };
  return {
    tools: all(
      ({ tools }) => tools,
      ({ tools }) => tools,
      ({ tool_name }) => tool_name,
      byName,
    ),
    resources: all(
      ({ resources }) => resources,
      ({ resources }) => resources,
      ({ uri }) => uri,
      byScheme,
    ),
    templates: all(
      ({ templates }) => templates,
      ({ resources }) => resources,
      ({ uriTemplate }) => uriTemplate,
      byScheme,
    ),
    prompts: all(
      ({ prompts }) => prompts,
      ({ prompts }) => prompts,
      ({ prompt_name }) => prompt_name,
      byName,
    ),
  };
}

/**
 * Unique names: plain if they are unique already. A prefixed name may equal another item's plain one, which then gets
 * its prefix too. Terminates, because prefixed names are unique: a prefix has no `_` and no `+`.
 */
function distinctNames(
  items: readonly { readonly prefix: string; readonly name: string }[],
  join: (prefix: string, name: string) => string,
): string[] {
  const names = items.map(({ name }) => name);
  const isPrefixed = items.map(() => false);
  for (;;) {
    const counts = Map.groupBy(names, (name) => name);
    const colliding = names.flatMap((name, at) => ((counts.get(name)?.length ?? 0) > 1 && !isPrefixed[at] ? [at] : []));
    if (colliding.length === 0) return names;
    for (const at of colliding) {
      const { prefix = "", name = "" } = items[at] ?? {};
      isPrefixed[at] = true;
      names[at] = join(prefix, name);
    }
  }
}

/** A portal's items as if it were one server, under its own names. */
export function portalManifest(
  portal: { readonly name: string; readonly version: string; readonly instructions: string | null },
  { tools, resources, templates, prompts }: Catalog,
): Manifest {
  const { name, version, instructions } = portal;
  return {
    protocolVersion: firstModernVersion,
    server: { name, version },
    instructions,
    tools: tools.map(({ item, exposed }) => ({ ...item, tool_name: exposed })),
    resources: resources.map(({ item, exposed }) => ({ ...item, uri: exposed })),
    templates: templates.map(({ item, exposed }) => ({ ...item, uriTemplate: exposed })),
    prompts: prompts.map(({ item, exposed }) => ({ ...item, prompt_name: exposed })),
  };
}

/** The server that reads a resource, and its name for it: a listed one, else by the matching template; null: none. */
export function resolveResource(catalog: Catalog, members: readonly PortalMember[], uri: string) {
  const listed = catalog.resources.find(({ exposed }) => exposed === uri);
  if (listed) return { projectId: listed.projectId, own: listed.own };
  for (const { projectId, exposed, own } of catalog.templates) {
    if (!matchesTemplate(exposed, uri)) continue;
    const prefix = members.find((member) => member.projectId === projectId)?.prefix ?? "";
    return { projectId, own: exposed === own ? uri : uri.slice(prefix.length + 1) };
  }
  return null;
}

/** Whether a URI can be an expansion of a template: its literal parts in this order. */
function matchesTemplate(template: string, uri: string): boolean {
  const literals = template.split(/\{[^{}]*\}/);
  const [first = "", ...rest] = literals;
  if (!uri.startsWith(first)) return false;
  let at = first.length;
  for (const [index, literal] of rest.entries()) {
    if (index === rest.length - 1) return uri.length - literal.length >= at && uri.endsWith(literal);
    const found = uri.indexOf(literal, at);
    if (found === -1) return false;
    at = found + literal.length;
  }
  return uri === template;
}
