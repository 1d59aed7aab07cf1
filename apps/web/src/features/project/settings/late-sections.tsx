import { latePart } from "~/ui/late-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";

/** The sections below the first ones. */
export const LateSections = latePart(
  async () => (await import("./lower-sections.tsx")).LowerSections,
  <Skeleton className="h-screen w-full" />,
);
