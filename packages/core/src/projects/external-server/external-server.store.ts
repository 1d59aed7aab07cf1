import { sha256 } from "@towpath/crypto";
import type { Database, Transaction } from "@towpath/db";
import { externalServer } from "@towpath/db/schema";
import { type Manifest, manifestSchema, type ServerIcon } from "@towpath/mcp/manifest";
import { findDataKey, openUpstreamCredential, sealUpstreamCredential } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { auditDecryption } from "../../audit/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import type { InspectionTarget } from "../../ports/index.ts";
import { readServerIcon, type TakenIcon } from "../server-icon/internal.ts";
import { serverUrl } from "../server-url/index.ts";

type Queryable = Database | Transaction;
export type ExternalServerRow = typeof externalServer.$inferSelect;
type Owner = { readonly organizationId: string; readonly projectId: string };

/** @throws TowpathError `not_found` for a project of another kind */
export async function requireExternalServer(db: Queryable, projectId: string): Promise<ExternalServerRow> {
  const row = await findExternalServer(db, projectId);
  if (!row) throw notFound("external server");
  return row;
}

async function findExternalServer(db: Queryable, projectId: string): Promise<ExternalServerRow | null> {
  const [row] = await db.select().from(externalServer).where(eq(externalServer.projectId, projectId));
  return row ?? null;
}

/** What an external server offers, as its last inspection found it; null for a project of another kind. */
export async function findExternalManifest(db: Queryable, projectId: string): Promise<Manifest | null> {
  const [row] = await db
    .select({ manifest: externalServer.manifest })
    .from(externalServer)
    .where(eq(externalServer.projectId, projectId));
  return manifestSchema.safeParse(row?.manifest).data ?? null;
}

type ReadIcon = {
  /** To be stored. */
  readonly icon: TakenIcon | null;
  readonly columns: Partial<Pick<ExternalServerRow, "iconHash" | "iconSource">>;
};

/** The icon that an inspection found. One that is named as before isn't read again; one that can't be read now stays. */
export async function readIcon(
  ctx: Context<"externalServers">,
  icons: readonly ServerIcon[],
  before: Pick<ExternalServerRow, "iconSource"> | null,
): Promise<ReadIcon> {
  const iconSource = icons.length === 0 ? null : sha256(JSON.stringify(icons));
  if (iconSource === (before?.iconSource ?? null)) return { icon: null, columns: {} };
  if (iconSource === null) return { icon: null, columns: { iconHash: null, iconSource } };
  const { icon } = await readServerIcon(ctx, icons);
  return { icon, columns: icon ? { iconHash: icon.hash, iconSource } : {} };
}

type Credential = { readonly header: string; readonly value: string };

/** The columns of a credential, sealed for the origin of `url`. */
export async function sealedCredential(
  tx: Transaction,
  ctx: Context<"secrets">,
  server: Owner & { readonly externalServerId: string; readonly url: string; readonly version: number },
  credential: Credential | null,
) {
  if (credential === null)
    return { credentialHeader: null, credentialCiphertext: null, credentialVersion: server.version };
  const { header, value } = credential;
  const ciphertext = await sealUpstreamCredential(tx, ctx.secrets, { ...server, header }, value);
  return { credentialHeader: header, credentialCiphertext: ciphertext, credentialVersion: server.version };
}

/** The credential of a stored server; null: it has none. Each reader is in the audit log before it has the value. */
export async function openedCredential(
  ctx: Context<"secrets">,
  organizationId: string,
  row: ExternalServerRow,
): Promise<InspectionTarget["credential"]> {
  const { credentialHeader: header, credentialCiphertext: ciphertext, credentialVersion: version } = row;
  if (header === null || ciphertext === null) return null;
  const { projectId, id: externalServerId, url } = row;
  const stored = { organizationId, projectId, externalServerId, url, header, version, ciphertext };
  const detail = { reason: "inspection", version };
  await auditDecryption(ctx, { organizationId, projectId, action: "externalServer.decrypt", subject: header, detail });
  const value = openUpstreamCredential(ctx.secrets, await findDataKey(ctx.db, projectId), stored);
  return { name: header, value };
}

/** @throws TowpathError `invalid_input` for an address of this instance: calls would go round in circles */
export function requireElsewhere(ctx: Context, url: string): void {
  const own = new URL(serverUrl(ctx.serverUrlTemplate, "name")).host;
  const { host } = new URL(url);
  const suffix = own.startsWith("name.") ? own.slice("name".length) : null;
  if (host !== own && !(suffix !== null && host.endsWith(suffix))) return;
  throw refusedUrl("This server already runs on this instance. Enter the address of a server that runs elsewhere.");
}

const refusedUrl = (message: string) => new TowpathError("invalid_input", message, { fields: { url: message } });

const credentialCodes: ReadonlySet<string> = new Set(["needs_credentials", "forbidden"]);

/** The refusal of a server that could not be inspected, beside the field that can cure it. */
export function refusedInspection(problem: { readonly code: string; readonly message: string }): TowpathError {
  const field = credentialCodes.has(problem.code) ? "credential" : "url";
  return new TowpathError("invalid_input", problem.message, { fields: { [field]: problem.message } });
}

/** Time until the next inspection, with a part that spreads those of many servers. */
export const nextCheckAt = (now: Date): Date => new Date(now.getTime() + checkEveryMs * (0.8 + 0.4 * Math.random()));
const checkEveryMs = 10 * 60_000;
