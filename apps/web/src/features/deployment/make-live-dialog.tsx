import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { BuildSummary } from "@towpath/core/build";
import { useState } from "react";
import { Button, type ButtonLook } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { commitTitle } from "../build/build-status.tsx";
import { CommitLine } from "../build/commit-line.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQueryKey } from "../project-screen/project-screen.functions.ts";
import { useMay } from "../session/guards.ts";
import { makeLive } from "./deployment.functions.ts";

/** Whether a build's version can be made live without a build, and the user may do it (PRJ-14). */
export function useMayMakeLive(build: BuildSummary): boolean {
  const mayBuild = useMay("build.start");
  return mayBuild && build.status === "succeeded" && build.deployment !== null && !build.deployment.isLive;
}

/** A button that asks, and makes the version live; nothing where that can't be. */
export function MakeLiveButton({ project, build, ...look }: ButtonLook & { project: ProjectKey; build: BuildSummary }) {
  const [open, setOpen] = useState(false);
  if (!useMayMakeLive(build)) return null;
  return (
    <>
      <Button {...look} onClick={() => setOpen(true)}>
        Make live
      </Button>
      <MakeLiveDialog project={project} build={build} open={open} onOpenChange={setOpen} />
    </>
  );
}

/** Asks before an earlier version serves callers again. */
export function MakeLiveDialog({
  project,
  build,
  open,
  onOpenChange,
}: {
  project: ProjectKey;
  build: BuildSummary;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const queryClient = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => makeLive({ data: { ...project, deploymentId: build.deployment?.id ?? "" } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(project) });
      onOpenChange(false);
      toast.success(`${build.commitSha.slice(0, 7)} is live`);
    },
    onError: (error) => {
      onOpenChange(false);
      toast.error("The version could not be made live.", { description: failureText(error) });
    },
  });
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Make this version live?"
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button variant="primary" busy={isPending} onClick={() => mutate()}>
            Make live
          </Button>
        </>
      }
    >
      <div className="rounded-md border bg-sunken px-3 py-2">
        <p className="truncate text-sm font-medium">{commitTitle(build.commitMessage)}</p>
        <CommitLine commit={{ ...build, branch: build.branch.name }} />
      </div>
      <p className="mt-3 text-sm text-muted">
        New calls reach it at once, with the variables it was built with. Nothing is built, and calls under way finish
        where they are. The next push to <code>{build.branch.name}</code> goes live as usual.
      </p>
    </Dialog>
  );
}
