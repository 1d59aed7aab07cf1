import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ScheduledBackupView } from "@towpath/core/operations/scheduled-backup";
import { Badge } from "~/ui/badge.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { formatBytes, RelativeTime } from "~/ui/time.tsx";
import { scheduledBackupQuery } from "./instance.functions.ts";

const badges = {
  made: <Badge tone="ok">Up to date</Badge>,
  first: <Badge>Not made yet</Badge>,
  late: <Badge tone="bad">Too old</Badge>,
  failed: <Badge tone="bad">Failed</Badge>,
} as const;

/** The newest scheduled back-up (OPS-3); without a schedule, how to get one. */
export function BackupCard({ orgSlug }: { readonly orgSlug: string }) {
  const { data: backup } = useSuspenseQuery(scheduledBackupQuery(orgSlug));
  return (
    <Card aria-label="Back-ups" className="mt-4">
      <CardHeader
        title="Back-ups"
        description={backup === null ? <NoSchedule /> : everyText(backup)}
        actions={backup === null ? null : badges[backup.state]}
      />
      {backup === null ? null : <Newest backup={backup} />}
    </Card>
  );
}

const NoSchedule = () => (
  <>
    None are made by schedule. The operator sets <code>TOWPATH_BACKUP_TO</code>, or runs <code>./towpath backup</code>.{" "}
    <Link to="/docs/$slug" params={{ slug: "operating" }} hash="back-ups" className="font-medium underline">
      Read how
    </Link>
  </>
);

const everyText = ({ everyHours }: ScheduledBackupView) =>
  everyHours === 1 ? "Made every hour." : `Made every ${everyHours} hours.`;

function Newest({ backup: { state, madeAt, name, bytes, problem } }: { readonly backup: ScheduledBackupView }) {
  return (
    <div className="space-y-1 border-t px-4 py-2.5 text-sm">
      {problem === null ? null : (
        <p className="break-words text-bad">The newest attempt failed: {problem} It is repeated within an hour.</p>
      )}
      {state !== "late" ? null : (
        <p className="text-bad">
          None was made when it was time, so the worker may not run. <code>./towpath doctor</code> says what is wrong.
        </p>
      )}
      {madeAt === null ? null : (
        <p className="break-words text-muted">
          The last one was made <RelativeTime time={madeAt} />: {name}, {formatBytes(bytes ?? 0)}.
        </p>
      )}
    </div>
  );
}
