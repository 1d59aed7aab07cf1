import { createServerFn } from "@tanstack/react-start";
import { getRegistryEntry } from "@towpath/core/projects/registry";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { publicAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { registryOffers } from "./registry-offers.ts";

/**
 * Registry data by project name (PUB-10, PUB-16). Private and unknown projects get the same answer: not ok, without
 * data.
 */
export const getRegistryData = createServerFn({ method: "GET" })
  .middleware([publicAccess])
  .validator(input(z.object({ projectName: z.string().max(100) })))
  .handler(async ({ data }) => {
    const { database, config } = services();
    const ctx = { db: database.db, serverUrlTemplate: config.serverUrlTemplate };
    const entry = await getRegistryEntry({ ctx, input: { ...data, baseUrl: config.baseUrl } });
    if (!entry) return { ok: false as const, data: null };
    const { manifest, ...registered } = entry;
    return { ok: true as const, data: { ...registered, offers: manifest && registryOffers(manifest) } };
  });

/** Registry data as the page gets it. */
export type RegistryData = Extract<Awaited<ReturnType<typeof getRegistryData>>, { ok: true }>["data"];
