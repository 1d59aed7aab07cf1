import { z } from "zod";
import type { ThirdParties } from "./http/third-parties.ts";

const exampleDsn = "must be a DSN, such as https://key@errors.example/1";

/** Whether it has a key and a project, by number. */
function isDsn(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, pathname } = new URL(text);
  return username !== "" && /\/\d+$/.test(pathname);
}

/** Settings of third-party services on the pages, all off by default (ERR-6). */
export const thirdPartySettings = {
  TOWPATH_ERROR_REPORTING_DSN: z
    .url({ protocol: /^https?$/, error: exampleDsn })
    .refine(isDsn, exampleDsn)
    .optional(),
  TOWPATH_ANALYTICS_SCRIPT: z.url({ protocol: /^https?$/, error: "must be the URL of a script" }).optional(),
  /** `data-domain=example.com data-api=/count` */
  TOWPATH_ANALYTICS_ATTRIBUTES: z
    .string()
    .default("")
    .transform((text) => text.split(/\s+/).filter((pair) => pair !== ""))
    .refine((pairs) => pairs.every((pair) => /^data-[a-z0-9-]+=/.test(pair)), {
      error: "must be data-… attributes, such as data-domain=example.com",
    })
    .transform((pairs) =>
      Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)])),
    ),
};

type Values = z.output<z.ZodObject<typeof thirdPartySettings>> & { readonly TOWPATH_ENVIRONMENT: string };

export function thirdPartiesFrom(values: Values): ThirdParties {
  const { TOWPATH_ERROR_REPORTING_DSN: dsn, TOWPATH_ENVIRONMENT: environment } = values;
  const { TOWPATH_ANALYTICS_SCRIPT: script, TOWPATH_ANALYTICS_ATTRIBUTES: attributes } = values;
  return { errorReporting: dsn ? { dsn, environment } : null, analytics: script ? { script, attributes } : null };
}
