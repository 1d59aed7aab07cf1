import { z } from "zod";
import { UsageError } from "../terminal/terminal.ts";
import type { Api } from "./api.ts";

/** The organization of the key in use. @throws UsageError for the operator, who has none of their own */
export async function ownOrganization(api: Api): Promise<string> {
  const schema = z.object({ organization: z.object({ slug: z.string() }).nullable() });
  const { organization } = await api.call("GET", "/api/v1/caller", schema);
  if (organization) return organization.slug;
  throw new UsageError("Name the organization: --organization SLUG");
}
