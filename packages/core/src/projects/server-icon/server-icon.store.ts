import { sha256 } from "@towpath/crypto";
import type { Database, Transaction } from "@towpath/db";
import { branch, build, deployment, externalServer, project, route, serverIcon } from "@towpath/db/schema";
import type { ServerIcon } from "@towpath/mcp/manifest";
import { and, desc, eq, notInArray, sql } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { readImage } from "../../tenancy/picture/internal.ts";
import { chooseIcons } from "./choose-icons.ts";

const iconMaxBytes = 100_000;
const maxPixels = 1024;
/** Of a project: those of its newest versions, one of which may be live again. */
const maxKept = 20;

/** The bytes of an icon, checked; `hash` as in `server_icon`. */
export type TakenIcon = { readonly hash: string; readonly contentType: string; readonly bytes: Buffer };
/** `problem`: why none could be taken, for the owner; null: the server names none. */
export type IconResult =
  | { readonly icon: TakenIcon; readonly problem: null }
  | { readonly icon: null; readonly problem: string | null };

/** Where an icon is served; null for none. The address names the bytes. */
export const iconUrl = (hash: string | null | undefined): string | null => (hash ? `/api/icons/${hash}` : null);

/**
 * Reads the icon of a server once, from what its handshake named: browsers load it from this site, never from elsewhere.
 * Never rejects for what the server names.
 */
export async function readServerIcon(
  { externalServers }: Pick<Context<"externalServers">, "externalServers">,
  icons: readonly ServerIcon[],
): Promise<IconResult> {
  if (icons.length === 0) return { icon: null, problem: null };
  let problem = "It needs a PNG, WebP or JPEG picture behind a data: or https: URI. SVG pictures are not shown.";
  for (const src of chooseIcons(icons)) {
    try {
      const icon = checkedIcon(src.startsWith("data:") ? bytesOf(src) : await externalServers.file(src, iconMaxBytes));
      if (typeof icon !== "string") return { icon, problem: null };
      problem = icon;
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
  }
  return { icon: null, problem };
}

/** The bytes of a `data:` URI (RFC 2397) in base64; none for the other form, which no raster image has. */
const bytesOf = (src: string): Buffer => {
  const encoded = /^data:[^,]*;base64,(.*)$/is.exec(src.slice(0, iconMaxBytes * 2))?.[1];
  return Buffer.from(encoded ?? "", "base64");
};

/** An icon by its bytes, or why it is none: what it is declared to be says nothing. */
function checkedIcon(bytes: Buffer): TakenIcon | string {
  if (bytes.length > iconMaxBytes) return "It is too large: at most 100 kB.";
  const image = readImage(bytes);
  if (!image) return "It is no PNG, WebP or JPEG picture.";
  const { type, width, height } = image;
  if (width < 1 || height < 1 || width > maxPixels || height > maxPixels)
    return `It must be at most ${maxPixels} × ${maxPixels} pixels.`;
  return { hash: sha256(bytes), contentType: type, bytes };
}

/** The address of a server's icon, as it is now: of what is live in production, or the server elsewhere. */
export async function findIconUrl(db: Database, projectId: string): Promise<string | null> {
  const [[live], [external]] = await Promise.all([
    db
      .select({ hash: build.iconHash })
      .from(route)
      .innerJoin(branch, and(eq(branch.id, route.branchId), branch.isDefault))
      .innerJoin(deployment, eq(deployment.id, route.deploymentId))
      .innerJoin(build, eq(build.id, deployment.buildId))
      .where(eq(route.projectId, projectId))
      .limit(1),
    db.select({ hash: externalServer.iconHash }).from(externalServer).where(eq(externalServer.projectId, projectId)),
  ]);
  return iconUrl(live?.hash ?? external?.hash);
}

/** The same as a hash, for queries of many projects. */
export const iconHashOfProject = sql<string | null>`coalesce(
  (SELECT ${build.iconHash} FROM ${route}
     JOIN ${branch} ON ${branch.id} = ${route.branchId} AND ${branch.isDefault}
     JOIN ${deployment} ON ${deployment.id} = ${route.deploymentId}
     JOIN ${build} ON ${build.id} = ${deployment.buildId}
    WHERE ${route.projectId} = ${project.id} LIMIT 1),
  (SELECT ${externalServer.iconHash} FROM ${externalServer} WHERE ${externalServer.projectId} = ${project.id}))`;

/** Stores an icon of a project, beside those of its earlier versions. */
export async function storeServerIcon(tx: Transaction, projectId: string, icon: TakenIcon, now: Date): Promise<void> {
  await tx
    .insert(serverIcon)
    .values({ projectId, ...icon, createdAt: now })
    .onConflictDoUpdate({ target: [serverIcon.projectId, serverIcon.hash], set: { createdAt: now } });
  const newest = tx
    .select({ hash: serverIcon.hash })
    .from(serverIcon)
    .where(eq(serverIcon.projectId, projectId))
    .orderBy(desc(serverIcon.createdAt))
    .limit(maxKept);
  await tx.delete(serverIcon).where(and(eq(serverIcon.projectId, projectId), notInArray(serverIcon.hash, newest)));
}
