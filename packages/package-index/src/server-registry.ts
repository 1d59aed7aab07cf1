import type { ServerRegistry } from "@towpath/core/ports";
import { registryEntryOf, serverJsonSchema } from "@towpath/core/sources/server-registry/schema";
import { z } from "zod";
import { createJsonReader } from "./read-json.ts";

// `ServerList` of the registry's API, version 0.1. An entry that can't be read must not hide the others.
const listSchema = z.object({
  servers: z.array(z.object({ server: z.unknown() })),
});

const pageLimit = 30;
const maxBytes = 8 * 1024 * 1024;

/** A registry at an address (`TOWPATH_REGISTRY_URL`); null for an empty one. */
export function createServerRegistry(address: string): ServerRegistry | null {
  if (address === "") return null;
  const base = new URL(address.endsWith("/") ? address : `${address}/`);
  const read = createJsonReader();
  return {
    host: base.host,
    async search(text) {
      const url = new URL("v0.1/servers", base);
      url.search = String(new URLSearchParams({ search: text, version: "latest", limit: String(pageLimit) }));
      const request = { url, from: "The registry", accept: "application/json", maxBytes };
      const found = await read({ ...request, otherwise: "doesn't answer with JSON" }, (body) => listSchema.parse(body));
      const parsed = found?.servers.map(({ server }) => serverJsonSchema.safeParse(server)) ?? [];
      return parsed.flatMap(({ data }) => (data === undefined ? [] : registryEntryOf(data)));
    },
  };
}
