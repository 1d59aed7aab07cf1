import type { Manifest } from "@towpath/mcp/manifest";
import { manifestSchema } from "@towpath/mcp/manifest";
import { z } from "zod";
import type { ExternalServerRow } from "./external-server.store.ts";

const problemSchema = z.object({ code: z.string(), message: z.string() });

/** An external server without its credential's value, which never comes back. */
export type ExternalServerView = {
  readonly url: string;
  /** Name of the header that carries the credential; null: the server gets none. */
  readonly credentialHeader: string | null;
  /** As the last inspection that succeeded found it. */
  readonly manifest: Manifest | null;
  readonly manifestAt: string | null;
  /** Why the last inspection failed; null: it succeeded. */
  readonly problem: { readonly code: string; readonly message: string } | null;
  readonly checkedAt: string | null;
  /** For the next change: see `UpdateExternalServerInput`. */
  readonly revision: number;
};

export function externalServerView(row: ExternalServerRow): ExternalServerView {
  return {
    url: row.url,
    credentialHeader: row.credentialHeader,
    manifest: manifestSchema.safeParse(row.manifest).data ?? null,
    manifestAt: row.manifestAt?.toISOString() ?? null,
    problem: problemSchema.safeParse(row.problem).data ?? null,
    checkedAt: row.checkedAt?.toISOString() ?? null,
    revision: row.revision,
  };
}
