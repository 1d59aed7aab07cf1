import type { ServerStatusView } from "@towpath/core/deployment";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { TimeBars } from "~/ui/time-bars.tsx";
import { deploymentMark } from "../deployment/deployment-mark.ts";
import type { Overview } from "./overview.functions.ts";

const bars = [
  { key: "errors", color: "var(--bad)", label: "Errors" },
  { key: "succeeded", color: "var(--accent)", label: "Succeeded" },
] as const;
const hourMs = 3_600_000;

/** Calls by hour, with the deployments that happened in between. */
export function CallsChart({
  overview,
  status,
}: {
  overview: Overview | undefined;
  status: Pick<ServerStatusView, "deployments">;
}) {
  const marks = status.deployments.map(deploymentMark);
  return (
    <Card>
      <CardHeader title="Calls by hour" description="Of tools, resources and prompts, in the last 24 hours." />
      <CardBody>
        {overview ? (
          <TimeBars
            data={overview.hours.map((hour) => ({ ...hour, succeeded: hour.calls - hour.errors }))}
            bucketMs={hourMs}
            bars={bars}
            describe={({ calls, errors }) =>
              `${calls === 1 ? "1 call" : `${calls} calls`}, ${errors === 1 ? "1 error" : `${errors} errors`}`
            }
            marks={marks}
            marksLabel="Deployments"
            className="h-30"
          />
        ) : (
          <Skeleton className="h-42" />
        )}
      </CardBody>
    </Card>
  );
}
