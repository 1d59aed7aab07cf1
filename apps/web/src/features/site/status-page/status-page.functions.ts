import { createServerFn } from "@tanstack/react-start";
import { getStatusPage } from "@towpath/core/projects/status-page";
import { readServerDays } from "@towpath/logs";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { publicAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { firstShownDay, statusDays } from "./status-days.ts";

/** The status page of an organization (PUB-10). Without one, and for unknown organizations: not ok, without data. */
export const getStatus = createServerFn({ method: "GET" })
  .middleware([publicAccess])
  .validator(input(z.object({ orgSlug: z.string().max(100) })))
  .handler(async ({ data }) => {
    const { database } = services();
    const page = await getStatusPage({ ctx: { db: database.db }, input: data });
    if (!page) return { ok: false as const, data: null };
    const now = Date.now();
    const ids = page.servers.map(({ projectId }) => projectId);
    const counted = await readServerDays(database.pool, ids, firstShownDay(now));
    const servers = page.servers.map(({ projectId, ...server }) => ({
      ...server,
      ...statusDays(
        counted.filter((day) => day.projectId === projectId),
        now,
      ),
    }));
    return { ok: true as const, data: { orgSlug: data.orgSlug, name: page.name, servers } };
  });

/** The status page as it is shown. */
export type Status = Extract<Awaited<ReturnType<typeof getStatus>>, { ok: true }>["data"];
