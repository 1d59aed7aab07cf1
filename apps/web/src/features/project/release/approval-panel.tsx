import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { BuildSummary } from "@towpath/core/delivery/build";
import type { Approval } from "@towpath/core/delivery/gradual-release/schema";
import { Check, X } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { decideApproval, policyQuery } from "./release.functions.ts";

type ApprovalPanelProps = {
  readonly project: ProjectKey;
  readonly build: Pick<BuildSummary, "approval" | "deployment">;
};

/** That a deployment to production waits for an approval, with buttons for whoever may give it; or wasn't approved. */
export function ApprovalPanel({ project, build: { approval, deployment } }: ApprovalPanelProps) {
  if (deployment === null) return null;
  if (approval === "waiting") return <Waiting project={project} deploymentId={deployment.id} />;
  if (approval === "rejected") {
    return <Callout title="Rejected">It doesn't go live. Rebuild its commit to ask for an approval again.</Callout>;
  }
  if (approval !== "replaced") return null;
  return <Callout title="Replaced before it was approved">A newer build of the branch took its place.</Callout>;
}

const approvers: Readonly<Record<Approval, string>> = {
  nobody: "a member",
  admin: "an admin",
  owner: "an owner",
};

function Waiting({ project, deploymentId }: { project: ProjectKey; deploymentId: string }) {
  const queryClient = useQueryClient();
  const { data: policy } = useQuery(policyQuery(project));
  const mayApprove = useMayApprove(policy?.approval ?? null);
  const { mutate, isPending, variables } = useMutation({
    mutationFn: (isApproved: boolean) => decideApproval({ data: { ...project, deploymentId, isApproved } }),
    onSuccess: (_, isApproved) => toast.success(isApproved ? "Approved" : "Rejected"),
    onError: (error) => toast.error("Nothing was decided.", { description: failureText(error) }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: projectQueryKey(project) }),
  });
  return (
    <Callout
      tone="warn"
      title="Waits for approval"
      actions={
        mayApprove ? (
          <>
            <Button variant="primary" icon={<Check />} busy={isPending && variables} onClick={() => mutate(true)}>
              Approve
            </Button>
            <Button icon={<X />} busy={isPending && !variables} onClick={() => mutate(false)}>
              Reject
            </Button>
          </>
        ) : null
      }
    >
      {policy ? `It goes live once ${approvers[policy.approval]} of this organization has approved it. ` : null}
      What is live stays until then. A newer build takes its place.
    </Callout>
  );
}

/** `approval`: null while it is loaded. */
function useMayApprove(approval: Approval | null): boolean {
  const [mayDeploy, mayApprove, isOwner] = [
    useMay("build.start"),
    useMay("deployment.approve"),
    useMay("organization.delete"),
  ];
  if (approval === null) return false;
  if (approval === "owner") return isOwner;
  return approval === "admin" ? mayApprove : mayDeploy;
}
