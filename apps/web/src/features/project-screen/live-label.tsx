import type { ProjectView } from "@towpath/core/project";
import { withWarnings } from "~/features/build/build-warnings.tsx";
import { classNames } from "~/ui/class-names.ts";
import { StatusDot } from "~/ui/status-dot.tsx";

/** Whether a server is live in production. Green only where the live build has no warning. */
export function LiveLabel({
  server,
  className,
}: {
  readonly server: Pick<ProjectView, "isLive" | "liveWarnings">;
  readonly className?: string;
}) {
  const tone = server.liveWarnings > 0 ? "warn" : "ok";
  return (
    <span className={classNames("inline-flex items-center gap-2 whitespace-nowrap", className)}>
      <StatusDot tone={server.isLive ? tone : "neutral"} />
      {server.isLive ? `Live${withWarnings(server.liveWarnings)}` : "Not live yet"}
    </span>
  );
}
