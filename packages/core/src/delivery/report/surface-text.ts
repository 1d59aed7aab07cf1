import type { SurfaceChange } from "@towpath/mcp/manifest";
import { versionText } from "../build/version.schema.ts";
import type { SurfaceChangesView } from "../surface/index.ts";
import { code, counted } from "./markdown.ts";

/** GitHub takes 65,535 characters of a text; a comment may be about several servers. */
const maxChanges = 50;
const maxDetails = 12;

const verbs = { added: "Added", removed: "Removed", changed: "Changed" } as const;

/** What changes for callers, in a few words: `2 tools added, 1 removed`; null when nothing does. */
export function surfaceTitle({ changes }: SurfaceChangesView): string | null {
  const parts = (["added", "removed", "changed"] as const).flatMap((change) => {
    const count = changes.filter((each) => each.change === change).length;
    return count === 0 ? [] : [`${count.toLocaleString("en")} ${change}`];
  });
  return parts.length === 0 ? null : parts.join(", ");
}

export const breakingCount = (surface: SurfaceChangesView | null): number =>
  surface?.changes.filter(({ breaking }) => breaking).length ?? 0;

/** The same as Markdown, with every change in a line of a list. */
export function surfaceMarkdown(surface: SurfaceChangesView): string {
  const { changes } = surface;
  const shown = changes.toSorted((one, two) => Number(two.breaking) - Number(one.breaking)).slice(0, maxChanges);
  const more = changes.length - shown.length;
  const compared = `Compared with ${code(versionText(surface.against))}, which ${surface.against.is === "live" ? "is live" : "it replaced"}`;
  const list = [...shown.map(line), ...(more > 0 ? [`- and ${counted(more, "more change")}`] : [])];
  return [
    changes.length === 0 ? `${compared}, nothing changes for callers.` : `${compared}:`,
    ...(list.length > 0 ? ["", ...list] : []),
    "",
    weight(surface.toolListTokens),
  ].join("\n");
}

function line({ kind, name, change, breaking, details }: SurfaceChange): string {
  const shown = details.slice(0, maxDetails).map(code).join(", ");
  const rest = details.length > maxDetails ? `, and ${details.length - maxDetails} more` : "";
  const warning = breaking ? " **Can break existing calls.**" : "";
  return `- ${verbs[change]} ${kind} ${code(name)}${shown && `: ${shown}${rest}`}.${warning}`;
}

function weight({ before, after }: SurfaceChangesView["toolListTokens"]): string {
  const now = `about ${counted(after, "token")}`;
  return before === after
    ? `The list of tools has ${now}.`
    : `The list of tools has ${now}, before about ${before.toLocaleString("en")}.`;
}
