import { z } from "zod";

/** Checked when a process starts. Empty: there is none. */
export const serverRegistrySettings = {
  TOWPATH_REGISTRY_URL: z
    .union([z.literal(""), z.url({ protocol: /^https?$/, error: "must be an http or https URL, or empty" })])
    .default("https://registry.modelcontextprotocol.io"),
};
