import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";

/** The address under which pages of a project reach the server of a branch; null: production. */
export function relayUrl(key: ProjectKey, branchId: string | null): URL {
  const path = `/api/projects/${encodeURIComponent(key.orgSlug)}/${encodeURIComponent(key.projectName)}/mcp`;
  const url = new URL(path, location.origin);
  if (branchId !== null) url.searchParams.set("branchId", branchId);
  return url;
}
