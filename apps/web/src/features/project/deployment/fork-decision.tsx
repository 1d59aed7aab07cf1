import { useMutation, useQueryClient } from "@tanstack/react-query";
import { shortCommit } from "@towpath/core/delivery/build/version/schema";
import type { ForkPullRequestView } from "@towpath/core/sources/fork-pull-request";
import { Check, ExternalLink, X } from "lucide-react";
import { decideFork } from "~/features/project/delivery/deployment.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { CommitLink } from "~/features/shared/project-screen/repository-links.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { Badge } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { failureText, toast } from "~/ui/toast.ts";

/** One of them, and the buttons that decide. */
export function ForkPullRequest({ project, pull }: { project: ProjectKey; pull: ForkPullRequestView }) {
  const isWaiting = pull.state === "waiting";
  return (
    <li className="flex flex-wrap items-center gap-x-5 gap-y-2 px-4 py-3 text-sm">
      <div className="flex min-w-0 flex-1 basis-64 flex-col gap-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="font-medium break-words">{pull.title || `Pull request ${pull.number}`}</span>
          {pull.url === null ? (
            <span className="text-muted">#{pull.number}</span>
          ) : (
            <a
              href={pull.url}
              target="_blank"
              rel="noreferrer"
              className="inline-flex min-h-6 items-center gap-1 text-muted underline decoration-line-strong underline-offset-3 hover:text-ink"
            >
              #{pull.number} <ExternalLink className="size-3" aria-label="on GitHub" />
            </a>
          )}
          <Badge tone={isWaiting ? "warn" : "neutral"}>{isWaiting ? "Waits for approval" : "Declined"}</Badge>
        </p>
        <p className="text-xs break-words text-muted">
          <CommitLink sha={pull.commitSha} />
          {pull.commitMessage && ` ${pull.commitMessage.split("\n", 1)[0]}`}, from {pull.author} in{" "}
          <code>{pull.repository ?? "a deleted fork"}</code>,{" "}
          {isWaiting || pull.decidedAt === null ? (
            <RelativeTime time={pull.waitingSince} />
          ) : (
            <>
              declined{pull.decidedBy && ` by ${pull.decidedBy}`} <RelativeTime time={pull.decidedAt} />
            </>
          )}
        </p>
      </div>
      <Decisions project={project} pull={pull} />
    </li>
  );
}

function Decisions({ project, pull }: { project: ProjectKey; pull: ForkPullRequestView }) {
  const mayDecide = useMay("build.approve");
  const queryClient = useQueryClient();
  const decide = useMutation({
    mutationFn: (decision: "approve" | "decline") =>
      decideFork({ data: { ...project, number: pull.number, commitSha: pull.commitSha, decision } }),
    onSuccess: (_result, decision) =>
      toast.success(decision === "approve" ? "Approved. The preview is building." : "Declined."),
    onError: (error) => toast.error("Nothing was decided.", { description: failureText(error) }),
    // Also after a failure, as somebody may have pushed or decided meanwhile.
    onSettled: () => queryClient.invalidateQueries({ queryKey: projectQueryKey(project) }),
  });
  if (!mayDecide) return <p className="text-xs text-muted">A member of this organization has to decide.</p>;
  const name = `${shortCommit(pull.commitSha)} of #${pull.number}`;
  const isDone = (decision: string) => decide.isPending && decide.variables === decision;
  return (
    <div className="flex flex-wrap gap-2">
      {pull.state === "waiting" && (
        <Button
          size="sm"
          icon={<X />}
          busy={isDone("decline")}
          onClick={() => decide.mutate("decline")}
          aria-label={`Decline ${name}`}
        >
          Decline
        </Button>
      )}
      <Button
        size="sm"
        variant="primary"
        icon={<Check />}
        busy={isDone("approve")}
        onClick={() => decide.mutate("approve")}
        aria-label={`Approve and build ${name}`}
      >
        Approve and build
      </Button>
    </div>
  );
}
