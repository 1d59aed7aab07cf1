import {
  type BuildWarning,
  type Program,
  settingsCommands,
  terminalCommand,
} from "@towpath/core/delivery/build/contract";
import type { ListName, ReadManifest } from "@towpath/mcp/client";
import type { Manifest } from "@towpath/mcp/manifest";
import type { BridgeKind, Incomplete } from "@towpath/runtime";
import { quoted } from "../failure.ts";

const listNames: Readonly<Record<ListName, { readonly name: string; readonly method: string }>> = {
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

/** Whether a server answers but offers nothing to call or read. */
export const offersNothing = ({ warnings }: { readonly warnings: readonly BuildWarning[] }): boolean =>
  warnings.some(({ code }) => code === "nothing_offered");

/** For a server that offers nothing, if none of the commit's other candidates offers more. Pure. */
export const withOthersTried = (warning: BuildWarning, tried: readonly string[]): BuildWarning =>
  warning.code !== "nothing_offered" || tried.length === 0
    ? warning
    : {
        ...warning,
        remedy: `${warning.remedy} ${quoted(tried)} ${tried.length === 1 ? "was tried instead and offers" : "were tried instead and offer"} nothing either, or ${tried.length === 1 ? "doesn't" : "don't"} start: the log says why.`,
      };

/** For a server that is served instead of a likelier one that offers nothing. Pure. */
export function emptyPassedOver(empty: Program, served: Program): BuildWarning {
  const [first, other] = [empty, served].map(({ entrypoint }) => `\`${entrypoint}\``);
  const command = terminalCommand({ kind: "entrypoint", candidates: [served.entrypoint] });
  return {
    code: "empty_passed_over",
    title: `${first} offers nothing, so ${other} is served`,
    detail: `${first} is the likelier entrypoint and answers MCP, but it has no tools, resources, templates or prompts. ${other} has some.`,
    remedy: `If that is right, set the entrypoint to ${other} under Settings → Build, or by \`${command}\`: builds then don't start ${first} first. If ${first} offers something only with variables, set those under Settings → Environment variables, or by \`${settingsCommands.variables}\`, and rebuild.`,
  };
}

const isEmpty = ({ tools, resources, templates, prompts }: Manifest) =>
  [tools, resources, templates, prompts].every((list) => list.length === 0);

function listFailed(list: ListName, message: string, file: string): BuildWarning {
  const { name, method } = listNames[list];
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
  remedy: `If it offers them only with variables, such as an address and a token, set those under Settings → Environment variables, or by \`${settingsCommands.variables}\`, and rebuild. Otherwise register them on the object that the entrypoint names: import the modules that define them in ${file}, and check that they use the same server object.`,
});

/** Warnings from the start of a server. Pure. */
export function startWarnings({ bridge, incomplete }: Started, manifest: Manifest | null): BuildWarning[] {
  return [
    ...(bridge === undefined ? [] : [bridged(bridge)]),
    ...(incomplete === undefined ? [] : [incompleteServer(incomplete, manifest)]),
  ];
}

/** For a server that was found beside others. Pure. */
export function otherServers(file: string, others: readonly string[]): BuildWarning {
  const [first = ""] = others;
  const paths = others.map((path) => `\`${path}\``);
  const named = [paths.slice(0, -1).join(", "), ...paths.slice(-1)].filter(Boolean).join(" and ");
  const isOne = others.length === 1;
  return {
    code: "other_servers",
    title: isOne
      ? "Another server of the repository isn't part of this one"
      : `${others.length} other servers of the repository aren't part of this one`,
    detail: `\`${file}\` was found first and is served. ${named} ${isOne ? "defines a server" : "define servers"} of ${isOne ? "its" : "their"} own, which nothing imports, so ${isOne ? "its" : "their"} tools are missing here.`,
    remedy: `To serve ${isOne ? "it" : "them"} too, create a server from this repository for ${isOne ? "it" : "each"}, with ${isOne ? `\`${first}\`` : "its file"} as the entrypoint. If \`${file}\` is all you want, set it as the entrypoint under Settings → Build, or by \`${settingsCommands.build}\`.`,
  };
}

type Started = { readonly bridge?: BridgeKind; readonly incomplete?: Incomplete };

/** For a server that offers more when it is started by itself (BLD-16). */
function incompleteServer({ reason, tools }: Incomplete, manifest: Manifest | null): BuildWarning {
  const offered = new Set(manifest?.tools.map(({ tool_name }) => tool_name));
  const missing = tools.filter((name) => !offered.has(name)).map((name) => `\`${name}\``);
  return {
    code: "incomplete",
    title: "The server may offer less than when you start it yourself",
    detail: missing.length === 0 ? reason : `${reason} It lacks ${missing.join(", ")}.`,
    remedy: incompleteRemedy,
  };
}

const incompleteRemedy = `Set the entrypoint under Settings → Build, or by \`${settingsCommands.build}\`, to what you start, such as the file alone or a console script, with its arguments. Or register everything at the top level of the file.`;

/** For a server that can't serve HTTP by itself (BLD-16). */
function bridged(over: BridgeKind): BuildWarning {
  const title = "The server speaks MCP over stdio only, so it is bridged to HTTP";
  return over === "object"
    ? {
        code: "bridged",
        title,
        detail:
          "The installed version of its SDK is from before streamable HTTP. Each client's session runs beside the others in one process.",
        remedy: "Upgrade to `mcp>=1.8`, or `fastmcp>=2.3.2`, and push.",
      }
    : {
        code: "bridged",
        title,
        detail:
          "It reads standard input by itself, so each client's session gets a process of its own: at most 8 at the same time, which share the server's memory.",
        remedy: "Build the server with `mcp>=1.8` or `fastmcp`, which serve all clients in one process.",
      };
}

export const listsNotRead = (reason: string, file: string): BuildWarning => ({
  code: "lists_not_read",
  title: "The server's tools, resources and prompts could not be read",
  detail: `The server does its own sign-in, so Towpath looked for them inside its process: ${reason} What it offers is unknown here; signed-in callers are not affected.`,
  remedy: `To see them here, point the entrypoint at the MCP server object in ${file} instead of an app around it.`,
});
