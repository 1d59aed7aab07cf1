import type { DefaultView, SavedView } from "@towpath/core/operations/saved-view";
import type { ViewList } from "@towpath/core/operations/saved-view/schema";
import type { RouterContext } from "~/features/shared/session/guards.ts";

/** Whose lists: a server's, or without `projectName` the organization's. */
export type ViewPlace = { readonly orgSlug: string; readonly projectName?: string | undefined };

export type ViewSearch = SavedView["search"];

/** The page of each list. */
export const viewPages = {
  requests: "/$orgSlug/$projectName/logs",
  sessions: "/$orgSlug/$projectName/sessions",
  users: "/$orgSlug/$projectName/users",
  errors: "/$orgSlug/$projectName/errors",
  output: "/$orgSlug/$projectName/server-logs",
  "sign-ins": "/$orgSlug/$projectName/sign-ins",
  deployments: "/$orgSlug/$projectName/deployments",
  surface: "/$orgSlug/$projectName/surface",
  servers: "/$orgSlug/servers",
  audit: "/$orgSlug/settings/audit-log",
} as const satisfies Record<ViewList, string>;

/** What is open or where the reader is in the list, and so no part of a view. */
const passing: ReadonlySet<string> = new Set(["request", "selected", "page", "at"]);

/** The part of an address's search that a view saves. */
export const savableSearch = (search: object): ViewSearch =>
  Object.fromEntries(
    Object.entries(search).filter(
      ([name, value]) => !passing.has(name) && ["string", "number", "boolean"].includes(typeof value),
    ),
  );

/** What `beforeLoad` of a list gets. */
export type Opening = {
  readonly cause: "preload" | "enter" | "stay";
  readonly location: { readonly pathname: string; readonly searchStr: string };
  readonly params: { readonly orgSlug: string; readonly projectName?: string };
  readonly context: RouterContext & { readonly organization: { readonly defaultViews: readonly DefaultView[] } };
};

/** The search parameters of a list's page. */
export type ListParameters = { readonly parse: (input: object) => object };

const read = (parameters: ListParameters, search: object): Readonly<Record<string, unknown>> => ({
  ...parameters.parse(search),
});

/** What a page takes over of a search: without what it doesn't know, and what is so by default. */
export function appliedSearch(parameters: ListParameters, search: ViewSearch): ViewSearch {
  const defaults = read(parameters, {});
  return savableSearch(
    Object.fromEntries(Object.entries(read(parameters, search)).filter(([name, value]) => value !== defaults[name])),
  );
}

/** Whether two searches filter alike on a page. */
export function isSameSearch(parameters: ListParameters, one: ViewSearch, other: ViewSearch): boolean {
  const [first, second] = [appliedSearch(parameters, one), appliedSearch(parameters, other)];
  const names = Object.keys(first);
  return names.length === Object.keys(second).length && names.every((name) => first[name] === second[name]);
}

/** What was saved in a view but doesn't apply: what names something that is gone, and what the page doesn't know. */
export function droppedFilters(
  parameters: ListParameters,
  { search, missing }: Pick<SavedView, "search" | "missing">,
): readonly string[] {
  const values = read(parameters, search);
  const unknown = Object.entries(search).filter(([name, value]) => values[name] !== value);
  return [...filterTexts(missing), ...unknown.map(([name, value]) => `${name}: ${value}`)];
}

/** A search as its filters are written. */
export const filterTexts = (search: ViewSearch): string[] =>
  Object.entries(search).map(([name, value]) => `${name}: ${value}`);
