import type { QueryClient } from "@tanstack/react-query";
import { notFound } from "@tanstack/react-router";
import type { BuildView } from "@towpath/core/build";
import { TowpathError } from "@towpath/core/errors";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { buildQuery } from "./build.queries.ts";

/** A build of this very project; any other is not found, even one that the reader may see elsewhere. */
export async function loadBuild(queryClient: QueryClient, key: ProjectKey, buildId: string): Promise<BuildView> {
  try {
    const build = await queryClient.ensureQueryData(buildQuery(key, buildId));
    const { project } = build;
    const names = [project.name.toLowerCase(), project.id];
    const same = project.orgSlug === key.orgSlug && names.includes(key.projectName.toLowerCase());
    if (same) return build;
  } catch (error) {
    const unknown = error instanceof TowpathError && (error.code === "not_found" || error.code === "invalid_input");
    if (!unknown) throw error;
  }
  throw notFound();
}
