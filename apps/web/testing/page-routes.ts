import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "@towpath/core/ids";
import { sampleManifest, seedLiveProject } from "@towpath/core/testing";
import { build, errorGroup, organization, portal, portalServer, project as projectTable } from "@towpath/db/schema";
import { foldRequestLogs, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { eq } from "drizzle-orm";
import type { Site } from "./site.ts";
import type { Member } from "./visitor.ts";

/** Files that aren't pages: layouts, and sign-out, which only ends the session. */
const noPage = /(^|\/)(route|__root|_site|logout)\.tsx$/;

/**
 * Every page of the product as its pattern (`/$orgSlug/$projectName/logs`), from the files of routes, so that new pages
 * are included. Optional parameters are left out.
 */
export async function pageRoutes(): Promise<string[]> {
  const files = await readdir(join(import.meta.dirname, "../src/routes"), { recursive: true });
  const pages = files.filter((file) => file.endsWith(".tsx") && !noPage.test(file));
  return pages.map(patternOf).toSorted();
}

function patternOf(file: string): string {
  const segments = file
    .replace(/\.tsx$/, "")
    .replaceAll(/\{-\$\w+\}/g, "")
    .split(/[/.]/)
    .filter((segment) => segment !== "" && segment !== "index" && !segment.startsWith("_"));
  return `/${segments.map((segment) => segment.replace(/_$/, "")).join("/")}`;
}

/** Values of the parameters in patterns. */
export type PageValues = Readonly<Record<string, string>>;

/** A project that is live and has been called, and a portal with it, so that every page has something to show. */
export async function seedPages(site: Site, owner: Member): Promise<PageValues> {
  const { id: organizationId, slug: orgSlug } = owner.organization;
  await site.db.update(organization).set({ hasStatusPage: true }).where(eq(organization.id, organizationId));
  const open = { isPublic: true, authMode: "towpath-public" };
  const project = await seedLiveProject(site.db, owner.organization, open, { manifest: sampleManifest() });
  const [row] = await site.db.select().from(build).where(eq(build.projectId, project.id));
  const caller = {
    session: "a-session",
    principal: `user:${owner.userId}`,
    clientName: "claude",
    clientVersion: "2.1",
  };
  await writeRequestLogs(site.pool, [requestLogRow({ ...caller, organizationId, projectId: project.id })]);
  while ((await foldRequestLogs(site.pool)) > 0);
  const [errorId, seenAt] = [newId(), new Date()];
  await site.db.insert(errorGroup).values({
    id: errorId,
    projectId: project.id,
    fingerprint: errorId,
    title: "KeyError: 'Nowhere'",
    exception: "KeyError",
    method: "tools/call",
    target: "echo",
    count: 1,
    firstSeen: seenAt,
    lastSeen: seenAt,
    openedAt: seenAt,
    samples: [],
    callers: [{ name: caller.principal, count: 1 }],
    clients: [{ name: caller.clientName, count: 1 }],
  });
  const ownPortal = {
    id: newId(),
    organizationId,
    name: `portal-of-${orgSlug}`.slice(0, 32),
    kind: "portal",
    entrypoint: "",
  };
  await site.db.insert(projectTable).values(ownPortal);
  const portalId = newId();
  await site.db.insert(portal).values({ id: portalId, projectId: ownPortal.id });
  await site.db.insert(portalServer).values({ portalId, projectId: project.id, position: 0, prefix: "echo" });
  const address = `/${orgSlug}/${project.name}`;
  const linkFrom = async (list: "sessions" | "users") => {
    const html = await (await owner.visitor.get(`${address}/${list}`)).text();
    return decodeURIComponent(new RegExp(`href="${address}/${list}/([^"?]+)`).exec(html)?.[1] ?? "");
  };
  return {
    orgSlug,
    projectName: project.name,
    projectId: project.id,
    portalName: ownPortal.name,
    buildId: row?.id ?? "",
    errorId,
    slug: "context-economy",
    itemKind: "tool",
    itemName: "echo",
    invitationId: newId(),
    sessionId: await linkFrom("sessions"),
    userId: await linkFrom("users"),
  };
}

/** Pages that only portals have. */
const ofPortals: readonly string[] = ["/$orgSlug/$projectName/servers"];

/** The path of a page. */
export function pathWith(values: PageValues, pattern: string): string {
  return pattern.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const own = values[name === "projectName" && ofPortals.includes(pattern) ? "portalName" : name];
    const value = pattern === "/docs/$slug" ? "clients" : own;
    if (!value) throw new Error(`Routes have a new parameter, $${name}: give it a value here.`);
    return encodeURIComponent(value);
  });
}
