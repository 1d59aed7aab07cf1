import { type Manifest, manifestSchema } from "@towpath/mcp/manifest";

/** A stored manifest, or null where there is none or an older version wrote one that no longer reads. */
export function readManifest(stored: unknown): Manifest | null {
  const parsed = manifestSchema.safeParse(stored);
  return parsed.success ? parsed.data : null;
}
