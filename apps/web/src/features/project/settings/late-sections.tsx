import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";

/** The sections below the first ones. */
export const LateSections = lazyPart(
  async () => (await import("./lower-sections.tsx")).LowerSections,
  <Skeleton className="h-screen w-full" />,
);
