import { oneLine } from "../../input/index.ts";
import type { AlertEvent } from "./raise-alert.ts";

/** An event as people read it, in every format. Texts are plain and may contain anything. */
export type AlertContent = {
  readonly title: string;
  readonly text: string;
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  /** The page that shows the cause. */
  readonly url: string;
  /** `ok`: something ended. */
  readonly tone: "bad" | "ok";
};

type AlertPlace = {
  /** Origin of the dashboard. */
  readonly dashboardUrl: string;
  readonly orgSlug: string;
  /** The server in addresses of the dashboard, and its name. */
  readonly projectPath: string;
  readonly projectName: string;
};

const maxTitle = 200;
const maxText = 1000;

/** What to write about an event. Pure. */
export function contentOf(event: AlertEvent, place: AlertPlace): AlertContent {
  const { projectName } = place;
  const own = ownContent(event, projectName);
  return {
    title: oneLine(own.title, maxTitle),
    text: oneLine(own.text, maxText),
    facts: [{ name: "Server", value: projectName }, ...(own.facts ?? [])].map(({ name, value }) => ({
      name,
      value: oneLine(value, maxTitle),
    })),
    url: `${place.dashboardUrl}/${place.orgSlug}/${place.projectPath}${pageOf(event)}`,
    tone: event.kind === "latency.normal" ? "ok" : "bad",
  };
}

/** Below the server's overview. */
function pageOf(event: AlertEvent): string {
  switch (event.kind) {
    case "error.new":
    case "error.back":
    case "error.rate":
      return `/errors/${event.groupId}`;
    case "deployment.failed":
    case "preview.failed":
      return `/build-logs/${event.buildId}`;
    case "server.no-place":
      return "/logs";
    case "sign-in.loop":
      return "/sign-ins";
    case "latency.band":
    case "latency.normal":
      return "";
  }
}

type Own = Pick<AlertContent, "title" | "text"> & Partial<Pick<AlertContent, "facts">>;

function ownContent(event: AlertEvent, server: string): Own {
  switch (event.kind) {
    case "error.new":
    case "error.back":
    case "error.rate":
      return aboutError(event, server);
    case "deployment.failed":
    case "preview.failed": {
      const what = event.kind === "deployment.failed" ? "Deployment" : "Preview";
      return {
        title: `${what} of ${server} failed: ${event.title}`,
        text: `${event.remedy} What is live is not affected.`,
        facts: [
          { name: "Branch", value: event.branch },
          { name: "Build", value: event.built },
        ],
      };
    }
    case "server.no-place":
      return { title: `${server} can't start: the machine has no place for it`, text: event.reason };
    case "sign-in.loop":
      return {
        title: `${event.client} can't sign in to ${server}`,
        text: `It began ${event.starts} times in ${event.minutes} minutes, without a successful call. ${
          event.problem ?? "Its last attempt just ended."
        }`,
        facts: [{ name: "Client", value: event.client }],
      };
    case "latency.band":
      return {
        title: `Calls of ${server} are slow: 95 % took up to ${duration(event.p95Ms)}`,
        text: `That is above ${duration(event.maxMs)}. In the last 15 minutes there were ${event.calls} calls.`,
        facts: event.usualMs === null ? [] : [{ name: "The week before", value: duration(event.usualMs) }],
      };
    case "latency.normal":
      return {
        title: `Calls of ${server} are back to normal`,
        text:
          event.p95Ms === null
            ? "There are hardly any calls any more."
            : `95 % of the last 15 minutes took up to ${duration(event.p95Ms)}.`,
        facts: [{ name: "Slow since", value: `${event.since.slice(0, 16).replace("T", " ")} UTC` }],
      };
  }
}

const leads = { "error.new": "New error", "error.back": "Error is back", "error.rate": "Many errors" } as const;

function aboutError(event: Extract<AlertEvent, { readonly groupId: string }>, server: string): Own {
  const often = event.count === 1 ? "once" : `${event.count.toLocaleString("en")} times`;
  const times = event.kind === "error.rate" ? `${often} in an hour` : often;
  return {
    title: `${leads[event.kind]} in ${server}: ${event.title}`,
    text: event.tool === null ? `It has occurred ${times}.` : `Calls of ${event.tool} have failed with it ${times}.`,
    facts: event.tool === null ? [] : [{ name: "Tool", value: event.tool }],
  };
}

const wordJoiner = "\u2060";

/**
 * A text of strangers that programs take for no address and no mention: callers of a public server could otherwise send
 * links to its owners in the name of the instance. Looks the same.
 */
export const inert = (text: string): string => text.replace(/:\/\/|\bwww\.|@/gi, `$&${wordJoiner}`);

const duration = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
