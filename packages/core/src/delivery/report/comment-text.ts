import type { BuildStatus } from "../build/build-contract.schema.ts";
import { versionText } from "../build/version.schema.ts";
import type { SurfaceChangesView } from "../surface/index.ts";
import { buildUrl, deploymentsUrl, type Page } from "./check-text.ts";
import { code, cutToLines, link } from "./markdown.ts";
import { isReplaying, type ReportedReplay, replayMarkdown, runningText } from "./replay-text.ts";
import { breakingCount, surfaceMarkdown } from "./surface-text.ts";

/** One server in a pull request's comment. */
export type CommentedServer = {
  readonly page: Page;
  readonly isEnded: boolean;
  /** Why the head has no build; null: it has. */
  readonly head: "waiting" | "declined" | "closed" | "skipped" | null;
  readonly build: {
    readonly id: string;
    readonly status: BuildStatus;
    readonly commitSha: string;
    readonly packageVersion: string | null;
    readonly cause: string | null;
  } | null;
  /** Of what is live for the pull request; null: nothing is. */
  readonly previewUrl: string | null;
  readonly surface: SurfaceChangesView | null;
  readonly replay: ReportedReplay | null;
};

/** GitHub's limit is 65,536 characters. */
const maxLength = 60_000;

/** By which a comment is found again; hidden in it. */
export const markOf = (organizationId: string) => `<!-- towpath:${organizationId} -->`;

/** The comment of a pull request, about every server that the organization deploys from the repository. Pure. */
export function commentText(organizationId: string, servers: readonly CommentedServer[]): string {
  const rows = servers.map((server) => `| ${server.page.project} | ${statusOf(server)} | ${previewOf(server)} |`);
  const sections = servers.flatMap((server) => {
    const heading = servers.length > 1 ? `#### ${server.page.project}` : "#### What changes for callers";
    const surface = server.surface === null || server.isEnded ? [] : ["", heading, "", surfaceMarkdown(server.surface)];
    return [...surface, ...replayOf(server, servers.length > 1)];
  });
  if (servers.length === 0) return `${markOf(organizationId)}\nNo server is deployed from this repository any more.`;
  const text = [
    markOf(organizationId),
    "| Server | Status | Preview |",
    "| --- | --- | --- |",
    ...rows,
    ...sections,
  ].join("\n");
  return cutToLines(text, maxLength);
}

/** The replay of production's calls on the preview (CAP-4). */
function replayOf({ page, isEnded, replay, build }: CommentedServer, isNamed: boolean): readonly string[] {
  if (isEnded || replay === null || build === null) return [];
  const heading = isNamed ? `#### Replayed calls of ${page.project}` : "#### Replayed calls";
  if (isReplaying(replay)) return ["", heading, "", runningText(replay)];
  const url = `${buildUrl(page, build.id)}#replayed-calls`;
  return ["", replayMarkdown(replay, heading), "", link("All answers side by side", url)];
}

const words: Readonly<Record<BuildStatus, string>> = {
  queued: "Waits for its turn",
  building: "Building",
  succeeded: "Ready",
  failed: "Failed",
  canceled: "Canceled",
};

function statusOf({ page, isEnded, head, build, surface }: CommentedServer): string {
  if (isEnded || head === "closed") return "Ended";
  const url = deploymentsUrl(page);
  if (head === "waiting") return link("Waits for approval", url);
  if (head === "declined") return link("Declined", url);
  if (head === "skipped") return link("Skipped: changes no watched path", url);
  if (build === null) return "No build yet";
  const breaking = build.status === "succeeded" && breakingCount(surface) > 0 ? ", **can break existing calls**" : "";
  const cause = build.status === "failed" && build.cause !== null ? `: ${code(build.cause)}` : "";
  return `${link(words[build.status], buildUrl(page, build.id))} at ${code(versionText(build))}${breaking}${cause}`;
}

const previewOf = ({ isEnded, previewUrl }: CommentedServer) =>
  isEnded || previewUrl === null ? "" : link(code(previewUrl), previewUrl);
