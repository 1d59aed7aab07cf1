import { Resolver } from "node:dns/promises";

const timeoutMs = 3_000;

/** What c-ares reports for a name without such records, and for one that doesn't exist. */
const isAbsent = (error: unknown) =>
  error instanceof Error && "code" in error && (error.code === "ENODATA" || error.code === "ENOTFOUND");

/**
 * Looks up DNS records, at `servers` or where the host does. A name without such records has none; rejects when no
 * server answers.
 */
export function createDomainNames(servers: readonly string[]) {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  const orNone = <Found>(found: Promise<readonly Found[]>): Promise<readonly Found[]> =>
    found.catch((error: unknown) => {
      if (isAbsent(error)) return [];
      throw error;
    });
  return {
    /** Texts of its TXT records, each put together. */
    async texts(name: string): Promise<readonly string[]> {
      return (await orNone(resolver.resolveTxt(name))).map((parts) => parts.join(""));
    },
    /** Where its CNAME record leads, in lower case; null without one. */
    async alias(name: string): Promise<string | null> {
      const [alias = null] = await orNone(resolver.resolveCname(name));
      return alias?.toLowerCase() ?? null;
    },
    /** IPv4 and IPv6 addresses. */
    async addresses(name: string): Promise<readonly string[]> {
      const found = await Promise.all([orNone(resolver.resolve4(name)), orNone(resolver.resolve6(name))]);
      return found.flat();
    },
  };
}
