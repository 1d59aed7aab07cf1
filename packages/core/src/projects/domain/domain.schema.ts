import { z } from "zod";

/** Domains of one server, at most. */
export const maxDomains = 10;

/** Whether a text is a domain: labels of letters, digits and hyphens (RFC 1035), at least two of them; no address. */
export function isDomain(name: string): boolean {
  const labels = name.split(".");
  const areLabels = labels.every((label) => /^[a-z0-9-]{1,63}$/.test(label) && !/^-|-$/.test(label));
  return areLabels && labels.length > 1 && name.length <= 253 && !/^\d+$/.test(labels.at(-1) ?? "");
}

/** As DNS has it: lower case, international names in ASCII; what is no host name stays as it is. */
function normalized(text: string): string {
  const name = text.trim().replace(/\.$/, "");
  const url = `http://${name}`;
  return /^[^\s/:@?#\\%[\]]+$/.test(name) && URL.canParse(url) ? new URL(url).hostname : name;
}

const domainNameSchema = z
  .string({ error: "Enter a domain" })
  .max(1000, "Enter a domain")
  .transform(normalized)
  .refine(isDomain, "Enter a domain such as mcp.example.com, without https:// and without a path");

export const domainSchema = z.object({ domain: domainNameSchema });
