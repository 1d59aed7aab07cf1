import type { BuildWarning } from "@towpath/core/build/contract";
import type { ListName, ReadManifest } from "@towpath/mcp/client";
import type { Manifest } from "@towpath/mcp/manifest";

const listWords: Readonly<Record<ListName, { readonly name: string; readonly method: string }>> = {
  tools: { name: "tools", method: "tools/list" },
  resources: { name: "resources", method: "resources/list" },
  templates: { name: "resource templates", method: "resources/templates/list" },
  prompts: { name: "prompts", method: "prompts/list" },
};

/** For a server that lists nothing, or fails to list something. Pure. */
export function manifestWarnings({ manifest, failedLists }: ReadManifest, file: string): BuildWarning[] {
  const failed = failedLists.map(({ list, error }) => listFailed(list, error.message, file));
  return failed.length === 0 && isEmpty(manifest) ? [nothingOffered(file)] : failed;
}

const isEmpty = ({ tools, resources, templates, prompts }: Manifest) =>
  [tools, resources, templates, prompts].every((list) => list.length === 0);

function listFailed(list: ListName, message: string, file: string): BuildWarning {
  const { name, method } = listWords[list];
  return {
    code: "list_failed",
    title: `The server could not list its ${name}`,
    detail: `It answered ${method} with an error: ${message}`,
    remedy: `Fix how ${file} lists its ${name}; the build log has its output. Until then, clients see none of them.`,
  };
}

const nothingOffered = (file: string): BuildWarning => ({
  code: "nothing_offered",
  title: "The server offers nothing",
  detail: "It answers MCP, but has no tools, resources, templates or prompts, so clients find nothing to call.",
  remedy: `Register them on the object that the entrypoint names: import the modules that define them in ${file}, and check that they use the same server object.`,
});

export const listsNotRead = (reason: string, file: string): BuildWarning => ({
  code: "lists_not_read",
  title: "The server's tools, resources and prompts could not be read",
  detail: `The server does its own sign-in, so Towpath looked for them inside its process: ${reason} What it offers is unknown here; signed-in callers are not affected.`,
  remedy: `To see them here, point the entrypoint at the MCP server object in ${file} instead of an app around it.`,
});
