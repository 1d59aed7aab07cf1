import { z } from "zod";

/** How project screens identify their project: by the first two segments of the URL. */
export const projectKeySchema = z.object({
  orgSlug: z.string().min(1).max(100),
  projectName: z.string().min(1).max(100),
});
export type ProjectKey = z.infer<typeof projectKeySchema>;

/**
 * The same page under the project's own name, when the address has a former one (PRJ-11); null when it is right already,
 * in whatever case.
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
