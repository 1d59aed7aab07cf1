import type { Catalog, CatalogItem } from "@towpath/mcp/portal";
import type { IsShown } from "./portal-targets.ts";

/** The lists that a portal answers, by method. */
const lists = {
  "tools/list": { of: "tools", as: "tools" },
  "prompts/list": { of: "prompts", as: "prompts" },
  "resources/list": { of: "resources", as: "resources" },
  "resources/templates/list": { of: "templates", as: "resourceTemplates" },
} as const;

const pageSize = 100;

type Asked = {
  readonly catalog: Catalog;
  readonly isShown: IsShown;
  /** Whether tools of a server may be called as tasks of 2025-11-25; null: in this session none. */
  readonly hasTasks: ((projectId: string) => boolean) | null;
};

/** A page of a list; null for an unknown cursor; undefined for another method. */
export function listPage(
  { catalog, isShown, hasTasks }: Asked,
  method: string,
  cursor: unknown,
): Readonly<Record<string, unknown>> | null | undefined {
  const list = lists[method as keyof typeof lists];
  if (!list) return undefined;
  const items: readonly CatalogItem<unknown>[] = catalog[list.of];
  const shown = items.filter((item) => isShown(list.of, item));
  const from = cursor === undefined ? 0 : shown.findIndex(({ exposed }) => cursorOf(exposed) === cursor) + 1;
  if (cursor !== undefined && from === 0) return null;
  const page = shown.slice(from, from + pageSize);
  const last = from + pageSize < shown.length ? page.at(-1) : undefined;
  return {
    [list.as]: page.map((item) => ({
      ...wireOf(list.of, item),
      ...(list.of === "tools" && hasTasks?.(item.projectId) && { execution: { taskSupport: "optional" } }),
    })),
    ...(last && { nextCursor: cursorOf(last.exposed) }),
  };
}

/** Names the last item of a page, so that the next page begins there even if earlier items have changed. */
const cursorOf = (exposed: string): string => Buffer.from(exposed).toString("base64url");

/** An item in the protocol's form, under the name that the portal gives it. */
function wireOf(kind: keyof Catalog, { exposed, item }: CatalogItem<unknown>): Record<string, unknown> {
  const { tool_name, resource_name, template_name, prompt_name, uri, uriTemplate, ...rest } = item as Record<
    string,
    unknown
  >;
  const own = withoutNulls(rest);
  // A manifest has null where the protocol omits a member.
  if (Array.isArray(own.arguments)) own.arguments = own.arguments.map(withoutNulls);
  if (kind === "resources") return { ...own, name: resource_name, uri: exposed };
  if (kind === "templates") return { ...own, name: template_name, uriTemplate: exposed };
  return { ...own, name: exposed };
}

const withoutNulls = (members: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
