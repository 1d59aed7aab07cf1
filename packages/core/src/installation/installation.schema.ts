import { z } from "zod";

export const recordInstallationSchema = z.object({
  installationId: z.number().int().positive(),
  accountLogin: z.string().min(1).max(100),
  /** User | Organization, as GitHub says it. */
  accountType: z.string().min(1).max(40),
});
export type RecordInstallationInput = z.input<typeof recordInstallationSchema> & { readonly orgSlug: string };
