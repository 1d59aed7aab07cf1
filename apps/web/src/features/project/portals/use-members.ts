import { useQueries } from "@tanstack/react-query";
import { defaultPrefix } from "@towpath/core/projects/portal/schema";
import type { ProjectListItem } from "@towpath/core/projects/project";
import type { Manifest } from "@towpath/mcp/manifest";
import { type Catalog, createCatalog } from "@towpath/mcp/portal";
import { useState } from "react";
import { choicesQuery } from "./portals.functions.ts";

/** A server with its chosen items. Null instead of a list: all, including later ones. */
export type Member = {
  readonly projectId: string;
  readonly name: string;
  readonly pathName: string;
  readonly iconUrl: string | null;
  readonly authMode: ProjectListItem["authMode"];
  readonly prefix: string;
  readonly tools: readonly string[] | null;
  readonly resources: readonly string[] | null;
  readonly prompts: readonly string[] | null;
};

/** A server's manifest; null: unknown; undefined: loading. */
export type Offered = Manifest | null | undefined;

type Added = Pick<ProjectListItem, "id" | "name" | "pathName" | "iconUrl" | "authMode">;

/** State of the form of a portal's servers, with a preview of the portal's items. */
export function useMembers(orgSlug: string, initial: readonly Member[]) {
  const [members, setMembers] = useState(initial);
  const offered = useQueries({
    queries: members.map(({ pathName }) => choicesQuery({ orgSlug, projectName: pathName })),
    combine: (results) => results.map(({ data, error }): Offered => (error ? null : data)),
  });
  const catalog: Catalog = createCatalog(members.map((member, at) => ({ ...member, manifest: offered[at] ?? null })));
  return {
    members,
    catalog,
    offered,
    add: ({ id, name, pathName, iconUrl, authMode }: Added) =>
      setMembers((before) => [
        ...before,
        {
          projectId: id,
          name,
          pathName,
          iconUrl,
          authMode,
          prefix: freePrefix(name, before),
          tools: null,
          resources: null,
          prompts: null,
        },
      ]),
    remove: (projectId: string) => setMembers((before) => before.filter((each) => each.projectId !== projectId)),
    change: (projectId: string, changed: Partial<Member>) =>
      setMembers((before) => before.map((each) => (each.projectId === projectId ? { ...each, ...changed } : each))),
  };
}

/** The members as input of server functions. */
export const inputOf = (members: readonly Member[]) =>
  members.map(({ projectId, prefix, tools, resources, prompts }) => ({
    server: projectId,
    prefix,
    tools: copy(tools),
    resources: copy(resources),
    prompts: copy(prompts),
  }));

const copy = (list: readonly string[] | null) => (list === null ? null : [...list]);

function freePrefix(name: string, members: readonly Member[]): string {
  const own = defaultPrefix(name);
  const isTaken = (prefix: string) => members.some((member) => member.prefix === prefix);
  if (!isTaken(own)) return own;
  const numbered = members.map((_, at) => `${own.slice(0, 28)}-${at + 2}`);
  return numbered.find((prefix) => !isTaken(prefix)) ?? own;
}
