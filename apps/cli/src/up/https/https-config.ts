import { accessSync, constants } from "node:fs";
import { isIP } from "node:net";
import { isDomain } from "@towpath/core/projects/domain/schema";
import { z } from "zod";

/** Room for the name of a server and its dot before it (RFC 1035, section 2.3.4: 253 characters in text). */
const maxDomainLength = 253 - 64;

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

const port = z.coerce.number({ error: "must be a port" }).int().min(1, "must be a port").max(65_535, "must be a port");

const settings = z.object({
  /** Host of the dashboard; servers are below it unless TOWPATH_SERVER_URL names another place. */
  TOWPATH_DOMAIN: z
    .string()
    .transform((name) => name.toLowerCase())
    .refine(
      (name) => isDomain(name) && name.length <= maxDomainLength,
      "must be a domain such as towpath.example.com, without https:// and without a port",
    ),
  /** Address to listen on; all of them unless it is set. */
  TOWPATH_HTTPS_HOST: z
    .string()
    .refine((host) => isIP(host) !== 0, "must be an IP address")
    .optional(),
  /** Where something else forwards the ports 80 and 443 to. */
  TOWPATH_HTTP_PORT: port.default(80),
  TOWPATH_HTTPS_PORT: port.default(443),
  /** Directory of another certificate authority than Let's Encrypt (RFC 8555, section 7.1.1). */
  TOWPATH_ACME_DIRECTORY: z.url({ protocol: /^https$/, error: "must be an https URL" }).optional(),
  /** PEM file with the certificate that signed the directory's own. */
  TOWPATH_ACME_CA: z
    .string()
    .regex(/^\/[^"{}\n]*$/, 'must be an absolute path without " and braces')
    .refine(isReadable, "names a file that can't be read")
    .optional(),
});

/** How the instance is served over HTTPS. */
export type HttpsConfig = {
  /** Host of the dashboard. */
  readonly domain: string;
  /** Address to listen on; null: all. */
  readonly host: string | null;
  readonly httpPort: number;
  readonly httpsPort: number;
  /** Null: Let's Encrypt. */
  readonly acmeDirectory: string | null;
  readonly acmeCa: string | null;
};

/**
 * Reads the settings of HTTPS; null without a domain.
 *
 * @throws Error whose message lists every problem, one per line
 */
export function readHttpsConfig(environment: Readonly<Record<string, string | undefined>>): HttpsConfig | null {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  if (given.TOWPATH_DOMAIN === undefined) return null;
  const parsed = settings.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
    throw new Error(`These settings need attention:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
  }
  const values = parsed.data;
  return {
    domain: values.TOWPATH_DOMAIN,
    host: values.TOWPATH_HTTPS_HOST ?? null,
    httpPort: values.TOWPATH_HTTP_PORT,
    httpsPort: values.TOWPATH_HTTPS_PORT,
    acmeDirectory: values.TOWPATH_ACME_DIRECTORY ?? null,
    acmeCa: values.TOWPATH_ACME_CA ?? null,
  };
}
