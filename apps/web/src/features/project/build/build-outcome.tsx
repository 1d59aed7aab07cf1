import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { BuildView } from "@towpath/core/delivery/build";
import type { BuildLogEntry } from "@towpath/core/delivery/build/contract";
import { Ban, Clock } from "lucide-react";
import { cancel } from "~/features/project/delivery/build.functions.ts";
import { serverStatusQuery } from "~/features/project/delivery/status.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { DiagnosisPanel } from "./build-problems.tsx";
import { LostFilesText } from "./lost-files.tsx";
import { NextChange } from "./next-change.tsx";
import { RedeployButton } from "./redeploy-button.tsx";
import { Remedies } from "./remedies.tsx";
import { SuccessPanel } from "./success-panel.tsx";

type BuildOutcomeProps = {
  project: ProjectKey;
  build: BuildView;
  lines: readonly BuildLogEntry[];
};

/** How a build ended, and what to do next; or that it waits. */
export function BuildOutcome({ project, build, lines }: BuildOutcomeProps) {
  const { data: detail } = useSuspenseQuery(projectQuery(project));
  const ofBranch = { key: project, branchId: build.branch.id };
  const { data: status, isLoading } = useQuery({ ...serverStatusQuery(ofBranch), enabled: build.status === "failed" });
  const lost = status?.live?.lost ?? null;
  const liveText = lost ? (
    <>
      The files of your live version were lost, so it can't start. <LostFilesText lost={lost} />
    </>
  ) : isLoading ? null : detail.isLive ? (
    "Your live version is unaffected."
  ) : (
    "Nothing is live yet."
  );
  const rebuild = build.branch.isEnded ? null : <RedeployButton project={project} buildId={build.id} />;
  if (build.status === "succeeded") return <SuccessPanel project={project} build={build} />;
  if (build.status === "canceled") {
    return (
      <Callout tone="info" title="This build was canceled" actions={rebuild}>
        {lines.findLast(({ text }) => text.startsWith("Canceled"))?.text ?? "The end of its log says why."} {liveText}
      </Callout>
    );
  }
  if (build.status === "failed" && build.diagnosis) {
    const errorLine = lines.find((line) => line.kind === "error")?.line ?? null;
    return (
      <DiagnosisPanel
        diagnosis={build.diagnosis}
        errorLine={errorLine}
        actions={<Remedies project={project} build={build} diagnosis={build.diagnosis} />}
        liveText={liveText}
      >
        {!build.branch.isEnded && <NextChange project={project} branch={build.branch.name} />}
      </DiagnosisPanel>
    );
  }
  if (build.status === "failed") {
    return (
      <Callout tone="bad" title="The build failed" actions={rebuild}>
        The end of the log says why. {liveText}
      </Callout>
    );
  }
  if (build.status === "queued") {
    return (
      <div className="flex items-center gap-2.5 rounded-lg border bg-surface px-4 py-3 text-sm text-muted">
        <Clock className="size-4 text-faint" />
        Waiting for a free worker. The build starts by itself.
      </div>
    );
  }
  return null;
}

/** Ends a build that waits or runs (BLD-13); nothing for a role that may not start builds. */
export function CancelButton({ project, buildId }: { project: ProjectKey; buildId: string }) {
  const queryClient = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => cancel({ data: { buildId } }),
    onSuccess: () => toast.success("Build canceled"),
    onError: (error) => toast.error("Couldn't cancel the build.", { description: failureText(error) }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: projectQueryKey(project) }),
  });
  if (!useMay("build.start")) return null;
  return (
    <Button busy={isPending} icon={<Ban />} onClick={() => mutate()}>
      Cancel build
    </Button>
  );
}
