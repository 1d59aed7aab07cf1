import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { BuildSummary } from "@towpath/core/delivery/build";
import { versionText } from "@towpath/core/delivery/build/version/schema";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { makeLive, promote } from "~/features/project/delivery/deployment.functions.ts";
import { nextVersionText } from "~/features/project/delivery/live-version.ts";
import { forkOf } from "~/features/shared/project-screen/branch-title.ts";
import { commitTitle } from "~/features/shared/project-screen/build-status.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button, type ButtonLook } from "~/ui/button.tsx";
import { Failure } from "~/ui/callout.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { CommitLine } from "./commit-line.tsx";
import { SurfaceChanges } from "./surface-changes.tsx";

// With the forms that it brings, it is a sixth of the script of the pages that have this dialog.
const GradualChoice = lazy(() => import("./gradual-choice.tsx").then((it) => ({ default: it.GradualChoice })));

/** A way to make a version live without building it (PRJ-14). */
export type GoLive = "make-live" | "promote";

/** A version's build, for the dialog. */
export type Version = Pick<BuildSummary, "id" | "commitSha" | "packageVersion" | "commitMessage"> & {
  readonly branch: { readonly name: string };
  readonly deployment: { readonly id: string; readonly isProd?: boolean } | null;
};

/** How the user may make a build's version live: again under its own URL, or in production. */
export function useWaysToGoLive(build: BuildSummary): readonly GoLive[] {
  const mayBuild = useMay("build.start");
  const { deployment } = build;
  // One that needs an approval has buttons for that.
  const isHeld = build.approval !== null && build.approval !== "approved";
  if (!mayBuild || build.status !== "succeeded" || deployment === null || isHeld) return [];
  const ways: GoLive[] = [];
  // A build for production can go live again, even if its branch is gone.
  if (!deployment.isLive && (deployment.isProd || !build.branch.isEnded)) ways.push("make-live");
  // A fork's code goes into production by a merge (BLD-9).
  if (!deployment.isProd && forkOf(build.branch.name) === null) ways.push("promote");
  return ways;
}

export const goLiveLabels: Readonly<Record<GoLive, string>> = {
  "make-live": "Make live",
  promote: "Promote to production",
};

/** Buttons that make a version live, after asking. */
export function GoLiveButton({ project, build, ...look }: ButtonLook & { project: ProjectKey; build: BuildSummary }) {
  const ways = useWaysToGoLive(build);
  return ways.map((way) => <OneWayButton key={way} project={project} way={way} version={build} {...look} />);
}

/** A button that makes a version live in one way, after asking. */
export function OneWayButton({
  project,
  way,
  version,
  label = goLiveLabels[way],
  ...look
}: ButtonLook & { project: ProjectKey; way: GoLive; version: Version; label?: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button {...look} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <GoLiveDialog project={project} way={way} version={version} open={open} onOpenChange={setOpen} />
    </>
  );
}

const titles: Readonly<Record<GoLive, string>> = {
  "make-live": "Make this version live?",
  promote: "Promote this version to production?",
};

type GoLiveDialogProps = {
  project: ProjectKey;
  way: GoLive;
  version: Version;
  open: boolean;
  onOpenChange: (open: boolean) => void;
};

/** Explains what happens to callers, and asks. */
export function GoLiveDialog({ project, way, version, open, onOpenChange }: GoLiveDialogProps) {
  const { mutate, isPending, error, reset } = useGoLive(project, version, () => onOpenChange(false));
  const [isGradual, setGradual] = useState(false);
  const change = (isOpen: boolean) => {
    onOpenChange(isOpen);
    setGradual(false);
    reset();
  };
  return (
    <Dialog
      open={open}
      onOpenChange={change}
      title={titles[way]}
      footer={
        <>
          <Button onClick={() => change(false)}>Cancel</Button>
          <Button variant="primary" busy={isPending} onClick={() => mutate({ way, gradually: isGradual })}>
            {goLiveLabels[way]}
          </Button>
        </>
      }
    >
      <div className="rounded-md border bg-sunken px-3 py-2">
        <p className="truncate text-sm font-medium">{commitTitle(version.commitMessage)}</p>
        <CommitLine commit={{ ...version, branch: version.branch.name }} />
      </div>
      {open && (
        <SurfaceChanges
          project={project}
          buildId={version.id}
          {...(way === "promote" && { against: "production" })}
          className="mt-3"
        />
      )}
      <p className="mt-3 text-sm text-muted">{explanations[way](version)}</p>
      {way === "promote" || version.deployment?.isProd ? (
        <Suspense>
          <GradualChoice checked={isGradual} onChange={setGradual} />
        </Suspense>
      ) : null}
      <Failure title="Couldn't make this version live" className="mt-3">
        {error && failureText(error)}
      </Failure>
    </Dialog>
  );
}

const explanations: Readonly<Record<GoLive, (version: Version) => ReactNode>> = {
  "make-live": (version) => (
    <>
      New calls reach it as soon as its server answers. It keeps the variables it was built with. Calls in progress
      finish on the current version. {nextVersionText(version, version.branch.name)}
    </>
  ),
  promote: () => (
    <>
      Nothing is rebuilt: production gets the same files with its own variables, and goes live once the server answers.
      The preview stays. The next push to the production branch replaces this version.
    </>
  ),
};

function useGoLive(project: ProjectKey, version: Version, onDone: () => void) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const data = { ...project, deploymentId: version.deployment?.id ?? "" };
  return useMutation({
    mutationFn: async ({ way, gradually }: { way: GoLive; gradually: boolean }) =>
      way === "promote"
        ? (await promote({ data: { ...data, gradually } })).id
        : void (await makeLive({ data: { ...data, gradually } })),
    onSuccess: async (buildId, { gradually }) => {
      onDone();
      const refetched = queryClient.invalidateQueries({ queryKey: projectQueryKey(project) });
      if (buildId === undefined) {
        toast.success(
          gradually ? `${versionText(version)} gets new sessions gradually` : `${versionText(version)} is live`,
        );
      } else await navigate({ to: "/$orgSlug/$projectName/build-logs/$buildId", params: { ...project, buildId } });
      await refetched;
    },
  });
}
