import { versionText } from "@towpath/core/delivery/build/version/schema";
import type { InstanceState } from "@towpath/core/delivery/deployment";
import type { ProjectView } from "@towpath/core/projects/project";
import type { AuthMode } from "@towpath/core/projects/project/schema";
import { Globe, KeyRound, Server } from "lucide-react";
import { Fragment } from "react";
import { Badge, StatusDot, type Tone } from "~/ui/badge.tsx";
import { classNames } from "~/ui/class-names.ts";
import { CopyButton } from "~/ui/icon-button.tsx";
import { Tooltip } from "~/ui/tooltip.tsx";
import { withWarnings } from "./build-status.tsx";

/** How each auth mode looks and reads (PRJ-12). */
export const authModes = {
  "towpath-cloud": {
    icon: KeyRound,
    label: "Members only",
    description: "Members of this organization sign in, or callers send an API key.",
  },
  "towpath-public": { icon: Globe, label: "Open to anyone", description: "Anyone with the URL can call this server." },
  passthrough: { icon: Server, label: "The server decides", description: "The server authenticates callers itself." },
} as const satisfies Record<AuthMode, unknown>;

/** A badge for who can call the server (PRJ-12). */
export function AuthModeBadge({ mode }: { mode: AuthMode }) {
  const { icon: Icon, label, description } = authModes[mode];
  return (
    <Tooltip content={description}>
      <span>
        <Badge tone="outline">
          <Icon aria-hidden />
          {label}
          <span className="sr-only">: {description}</span>
        </Badge>
      </span>
    </Tooltip>
  );
}

/** Whether a server is live in production. Green only where the live build has no warning. */
export function LiveLabel({ server, className }: { readonly server: LiveFacts; readonly className?: string }) {
  const { label, tone } = liveState(server);
  return (
    <span className={classNames("inline-flex items-center gap-2 whitespace-nowrap", className)}>
      <StatusDot tone={tone} />
      {label}
    </span>
  );
}

type LiveFacts = Pick<ProjectView, "isLive" | "liveWarnings" | "rolledBackTo" | "external" | "instanceState">;

/** How a server is in production, in words and as a colour. */
export function liveState(server: LiveFacts): { readonly label: string; readonly tone: Tone } {
  if (!server.isLive) return { label: "Not live yet", tone: "neutral" };
  if (server.external?.problem != null) return { label: "Last check failed", tone: "warn" };
  if (server.instanceState === "crashed") return { label: "Crashed", tone: "bad" };
  const label = server.rolledBackTo ? `Rolled back to ${versionText(server.rolledBackTo)}` : "Live";
  const tone = server.liveWarnings > 0 ? "warn" : server.rolledBackTo ? "info" : "ok";
  return { label: `${label}${withWarnings(server.liveWarnings)}`, tone };
}

/** After a single slash and after a hyphen: where a narrow screen may break a URL without cutting a word. */
const breaks = /(?<=[^:/]\/)|(?<=-)/;

/** An MCP endpoint, in full and with a copy button. */
export function ServerUrl({ url, className }: { url: string; className?: string }) {
  return (
    <span
      className={classNames(
        "inline-flex max-w-full min-w-0 items-center gap-1 rounded-md border bg-sunken py-0.5 pr-0.5 pl-2.5",
        className,
      )}
    >
      <code className="min-w-0 text-xs wrap-anywhere">
        {url.split(breaks).map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a constant text
          <Fragment key={index}>
            {part}
            <wbr />
          </Fragment>
        ))}
      </code>
      <CopyButton text={url} label="Copy URL" />
    </span>
  );
}

/** Label, water level and description of each state. */
export const instanceLooks: Readonly<
  Record<InstanceState, { label: string; level: number; tone: "accent" | "asleep" | "bad"; description: string }>
> = {
  awake: { label: "Awake", level: 1, tone: "accent", description: "It answers at once." },
  asleep: { label: "Asleep", level: 0.3, tone: "asleep", description: "The next call wakes it within milliseconds." },
  starting: { label: "Starting", level: 0.6, tone: "accent", description: "Calls wait until it is ready." },
  stopped: { label: "Asleep", level: 0.12, tone: "asleep", description: "The next call starts it." },
  crashed: { label: "Crashed", level: 0.12, tone: "bad", description: "The next call starts it again." },
};
