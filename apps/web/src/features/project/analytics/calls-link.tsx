import { Link } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { ScrollText } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { buttonLook } from "~/ui/button.tsx";

type CallsLinkProps = {
  projectKey: ProjectKey;
  search: { readonly user?: string; readonly session?: string; readonly timeRange?: TimeRange };
  /** Whose calls. */
  of: string;
};

/** A row's calls in the log. */
export function CallsLink({ projectKey, search, of }: CallsLinkProps) {
  return (
    <Link
      to="/$orgSlug/$projectName/logs"
      params={projectKey}
      search={search}
      aria-label={`Calls of ${of} in the log`}
      title="Calls in the log"
      className={buttonLook({ variant: "ghost", size: "sm", className: "relative z-10 size-7 px-0" })}
    >
      <ScrollText />
    </Link>
  );
}
