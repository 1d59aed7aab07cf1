import { useEffect, useRef } from "react";
import { Callout } from "~/ui/callout.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import type { MovedToGitHub } from "./continue-on-github.types.ts";

/** A notice that the repository has moved, with instructions for people who cloned it. */
export function MovedNotice({ fullName, cloneUrl, servers }: MovedToGitHub) {
  // The button that was pressed is gone.
  const status = useRef<HTMLDivElement>(null);
  useEffect(() => status.current?.focus(), []);
  const command = `git remote set-url origin ${cloneUrl}`;
  return (
    <div ref={status} role="status" tabIndex={-1} className="outline-none">
      <Callout tone="ok" title={`The repository continues as ${fullName}`}>
        {servers.length > 1 ? `${servers.join(", ")} are` : "This server is"} built from there. In a clone, run:
        <span className="mt-2 flex min-w-0 items-center gap-1 rounded-md border bg-sunken py-1 pr-1 pl-2.5">
          <code className="min-w-0 flex-1 text-xs break-all">{command}</code>
          <CopyButton text={command} label="Copy the command for clones" />
        </span>
      </Callout>
    </div>
  );
}
