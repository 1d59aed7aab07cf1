import { useQuery } from "@tanstack/react-query";
import { forkPullRequestsQuery } from "~/features/project/delivery/deployment.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Card, CardHeader } from "~/ui/card.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";

const ForkPullRequest = lazyPart(
  async () => (await import("./fork-decision.tsx")).ForkPullRequest,
  <Skeleton className="mx-4 my-3 h-10" />,
);

/** Pull requests from forks that wait for a member's decision (BLD-9). */
export function ForkPullRequests({ project }: { project: ProjectKey }) {
  const { data } = useQuery(forkPullRequestsQuery(project));
  const undecided = data?.filter(({ state }) => state !== "approved") ?? [];
  if (undecided.length === 0) return null;
  return (
    <Card>
      <CardHeader
        title="Pull requests from forks"
        description="Read the changes first. An approved commit is built and run as a preview, without variables; the next push waits again."
      />
      <ul aria-label="Pull requests from forks" className="divide-y border-t">
        {undecided.map((pull) => (
          <ForkPullRequest key={pull.number} project={project} pull={pull} />
        ))}
      </ul>
    </Card>
  );
}
