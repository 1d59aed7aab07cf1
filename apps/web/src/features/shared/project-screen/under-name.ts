import type { ProjectKey } from "./project-key.schema.ts";

/**
 * The same page under the project's current name when the address has a former one (PRJ-11); null when it has the
 * current name, in any case.
 */
export function underName(
  href: string,
  { projectName }: Pick<ProjectKey, "projectName">,
  project: { readonly id: string; readonly name: string; readonly pathName: string },
): string | null {
  const isRight = [project.id, project.name.toLowerCase()].includes(projectName.toLowerCase());
  return isRight
    ? null
    : href.replace(/^(\/[^/?#]+)\/[^/?#]+/, (_, organization) => `${organization}/${project.pathName}`);
}
