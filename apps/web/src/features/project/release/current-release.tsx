import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { releaseQuery } from "~/features/project/delivery/status.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";

const ReleasePanel = lazy(() => import("./release-panel.tsx").then((it) => ({ default: it.ReleasePanel })));

/** The panel of a release that runs or went back, whose code is loaded only then. */
export function CurrentRelease({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data } = useQuery(releaseQuery(projectKey));
  const state = data?.release?.state;
  if (state !== "running" && state !== "went-back") return null;
  return (
    <Suspense>
      <ReleasePanel projectKey={projectKey} />
    </Suspense>
  );
}
