import { projectNameSchema } from "@towpath/core/project/schema";

/** A repository's name as a server name, null when it cannot be one (VAL-1). */
export function serverNameFrom(repository: string): string | null {
  const name = repository
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 32)
    .replace(/^-|-$/g, "");
  return projectNameSchema.safeParse(name).success ? name : null;
}
