import { projectNameSchema } from "@towpath/core/project/schema";

/** A repository's name as a server name when it can be one, else the random proposal. */
export function suggestServerName(repository: string, proposal: string): string {
  const name = repository
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 32)
    .replace(/-+$/, "");
  return projectNameSchema.safeParse(name).success ? name : proposal;
}
