import { isId } from "../../input/index.ts";
import { headCheckId, headCheckPrefix } from "../branch/index.ts";
import type { SurfaceChangesView } from "../surface/index.ts";
import type { BranchState, Head, ReportedBuild } from "./branch-state.ts";
import { code, cutToLines, link, maxSentence, shortened } from "./markdown.ts";
import {
  conclusionOf,
  isReplaying,
  type ReportedReplay,
  replayMarkdown,
  replayTitle,
  requiredText,
  runningText,
} from "./replay-text.ts";
import type { CheckReport } from "./report.port.ts";
import { breakingCount, surfaceMarkdown, surfaceTitle } from "./surface-text.ts";

export type Page = { readonly dashboardUrl: string; readonly orgSlug: string; readonly project: string };

const projectUrl = ({ dashboardUrl, orgSlug, project }: Page) => `${dashboardUrl}/${orgSlug}/${project}`;
export const buildUrl = (page: Page, buildId: string) => `${projectUrl(page)}/build-logs/${buildId}`;
export const deploymentsUrl = (page: Page) => `${projectUrl(page)}/deployments`;

type CheckContent = Pick<CheckReport, "status" | "conclusion" | "title" | "text" | "actions"> & {
  readonly summary: string;
};

/** A repository may be deployed as several servers. */
const checkName = (state: BranchState) => `towpath/${state.project.name}`;

const maxTitle = 140;
/** GitHub takes 65,535. */
const maxText = 60_000;

/** The check run of a build, as it is now. `surface`: null while there is nothing to compare. */
export function checkOfBuild(
  state: BranchState,
  build: ReportedBuild,
  surface: SurfaceChangesView | null,
  page: Page,
): CheckReport {
  const content = contentOfBuild(state, build, surface);
  return {
    sha: build.commitSha,
    name: checkName(state),
    externalId: build.id,
    detailsUrl: buildUrl(page, build.id),
    ...content,
    title: shortened(content.title, maxTitle),
    summary: `${content.summary}\n\n${link("Open the build", buildUrl(page, build.id))}`,
  };
}

const cancelAction = { label: "Cancel", description: "Cancel this build", identifier: "cancel" };
const completed = (conclusion: CheckReport["conclusion"]) => ({ status: "completed", conclusion }) as const;

function contentOfBuild(state: BranchState, build: ReportedBuild, surface: SurfaceChangesView | null): CheckContent {
  const plain = { text: null, actions: [] };
  const isPromotion = build.trigger === "promote";
  switch (build.status) {
    case "queued":
      return {
        ...plain,
        status: "queued",
        conclusion: null,
        title: "Waits for its turn",
        summary: "The build starts as soon as there is a free place.",
        actions: [cancelAction],
      };
    case "building":
      return {
        ...plain,
        status: "in_progress",
        conclusion: null,
        title: isPromotion ? "Promoting to production" : "Building",
        summary: "Towpath installs the dependencies, starts the server and asks it what it offers.",
        actions: [cancelAction],
      };
    case "canceled":
      return { ...plain, ...completed("cancelled"), title: "Canceled", summary: "Nothing that is live has changed." };
    case "failed":
      return { ...plain, ...completed("failure"), ...contentOfFailure(build) };
    case "succeeded":
      return { ...plain, ...contentOfSuccess(state, build, surface) };
  }
}

function contentOfFailure({ diagnosis }: ReportedBuild): Pick<CheckContent, "title" | "summary"> {
  if (diagnosis === null) return { title: "Build failed", summary: "Nothing that is live has changed." };
  const cause = [diagnosis.title, diagnosis.detail, diagnosis.remedy].filter(Boolean).map(codeLines).join("\n\n");
  return { title: diagnosis.title, summary: `${cause}\n\nNothing that is live has changed.` };
}

/** Sentences of a diagnosis quote the server, so they are code. */
const codeLines = (text: string) =>
  text
    .split("\n")
    .filter((each) => each.trim() !== "")
    .map((each) => code(each, maxSentence))
    .join("  \n");

function contentOfSuccess(
  { branch, project }: BranchState,
  build: ReportedBuild,
  surface: SurfaceChangesView | null,
): Pick<CheckContent, "status" | "conclusion" | "title" | "summary" | "text"> {
  const breaking = branch.isDefault ? 0 : breakingCount(surface);
  const fails = breaking > 0 && project.failOnBreakingChanges;
  const place = branch.isDefault ? "in production" : "as a preview";
  const live =
    build.isLive && build.url !== null
      ? `Live ${place}: ${link(code(build.url), build.url)}`
      : `Built ${place}; another version is live.`;
  const held = build.isLive ? null : heldBack(build);
  if (held !== null) return { ...held, text: surface && cutToLines(surfaceMarkdown(surface), maxText) };
  const changes = surface && surfaceTitle(surface);
  const title = [
    fails ? "Breaks existing calls" : build.isLive ? "Live" : "Built",
    ...(changes === null || changes === undefined ? [] : [changes]),
  ].join(": ");
  const risk = breaking > 0 && !fails ? ` (${breaking} can break calls)` : "";
  const rule = fails
    ? "\n\nThis server doesn't accept changes that break existing calls: keep what callers use, or turn the rule off in its settings."
    : "";
  const content = { title: `${title}${risk}`, summary: `${live}${rule}`, text: surface && surfaceMarkdown(surface) };
  return withReplay(build.replay, fails ? "failure" : breaking > 0 ? "neutral" : "success", content);
}

const severity = ["success", "neutral", "failure"] as const;

/** What the replay of production's calls adds to the check of a preview (CAP-4), which isn't complete while it runs. */
function withReplay(
  replay: ReportedReplay | null,
  conclusion: (typeof severity)[number],
  { title, summary, text }: Pick<CheckContent, "title" | "summary" | "text">,
): Pick<CheckContent, "status" | "conclusion" | "title" | "summary" | "text"> {
  const cut = (markdown: string | null) => markdown && cutToLines(markdown, maxText);
  if (replay === null) return { ...completed(conclusion), title, summary, text: cut(text) };
  if (isReplaying(replay)) {
    const running = `${summary}\n\n${runningText(replay)}`;
    return {
      status: "in_progress",
      conclusion: null,
      title: `${title}. ${replay.isReplayed ? "Replaying calls" : "Asking a model"}`,
      summary: running,
      text: cut(text),
    };
  }
  const own = conclusionOf(replay);
  const rule = own === "failure" ? `\n\n${requiredText(replay)}` : "";
  return {
    ...completed(severity[Math.max(severity.indexOf(conclusion), severity.indexOf(own))] ?? "neutral"),
    title: `${title}. ${replayTitle(replay)}`,
    summary: `${summary}${rule}`,
    text: cut([text, replayMarkdown(replay, "### Replayed calls")].filter(Boolean).join("\n\n")),
  };
}

/** A version of production that an approval or a gradual release keeps from being live for all. */
function heldBack({
  approval,
  release,
}: ReportedBuild): Pick<CheckContent, "status" | "conclusion" | "title" | "summary"> | null {
  if (approval === "waiting") {
    const summary = "It goes live once somebody has approved it on its page. What is live stays until then.";
    return { ...completed("action_required"), title: "Waits for approval", summary };
  }
  if (approval === "rejected") {
    return { ...completed("cancelled"), title: "Rejected", summary: "What is live stays." };
  }
  if (release?.state === "running") {
    const summary =
      "The live version keeps the others. It goes on by itself, or back if its figures leave the server's band.";
    return { ...completed("success"), title: `Gets ${release.share} % of new sessions`, summary };
  }
  if (release?.state === "went-back") {
    const summary = `${release.reason === null ? "" : code(release.reason, maxSentence)}\n\nThe version before serves all sessions.`;
    return { ...completed("failure"), title: "Went back", summary };
  }
  return null;
}

const heads: Readonly<Record<Head["why"], Pick<CheckContent, "conclusion" | "title" | "summary" | "actions">>> = {
  waiting: {
    conclusion: "action_required",
    title: "Waits for approval",
    summary:
      "This pull request comes from a fork. A member of the organization has to approve this very commit before it is built; a new push asks again. Its preview gets no environment variables.",
    actions: [{ label: "Approve and build", description: "Build this commit as a preview", identifier: "approve" }],
  },
  declined: {
    conclusion: "cancelled",
    title: "Declined",
    summary: "A member of the organization declined to build this commit. A new push asks again.",
    actions: [],
  },
  closed: { conclusion: "cancelled", title: "Closed", summary: "The pull request was closed.", actions: [] },
  skipped: {
    conclusion: "skipped",
    title: "Skipped: changes no watched path",
    summary: "The push changes no file that this server is built from. What is live stays.",
    actions: [],
  },
};

/** The branch of a check run that is about a head without a build; null for one of a build. */
export function branchOfHeadCheck(externalId: string): string | null {
  const id = externalId.startsWith(headCheckPrefix) ? externalId.slice(headCheckPrefix.length) : "";
  return isId(id) ? id : null;
}

/** The check run of a head without a build. */
export function checkOfHead(state: BranchState, head: Head, page: Page): CheckReport {
  const url = deploymentsUrl(page);
  const { summary, ...content } = heads[head.why];
  return {
    sha: head.sha,
    name: checkName(state),
    externalId: headCheckId(state.branch.id),
    detailsUrl: url,
    status: "completed",
    ...content,
    summary: `${summary}\n\n${link("Open the server", url)}`,
    text: null,
  };
}
