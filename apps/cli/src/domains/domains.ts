import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { type Api, connectApi } from "../instance/api.ts";
import { projectPath } from "../servers/list.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { bold, dim, green, output, print, UsageError, yellow } from "../terminal/terminal.ts";
import { ago } from "../terminal/time.ts";

const recordSchema = z.object({
  type: z.string(),
  name: z.string(),
  value: z.string(),
  seenAt: z.string().nullable(),
  problem: z.string().nullable(),
});
const domainSchema = z.object({
  domain: z.string(),
  url: z.string(),
  activeAt: z.string().nullable(),
  records: z.array(recordSchema),
  checkedAt: z.string().nullable(),
});
type Domain = z.infer<typeof domainSchema>;

const actions = ["list", "add", "check", "remove"];

/** `towpath domains NAME [list | add DOMAIN | check DOMAIN | remove DOMAIN]`: domains of its own of a server (OPS-12). */
export async function domains(args: string[]): Promise<number> {
  const { values, positionals } = parse("domains", args);
  const [name = "", action = "list", domain] = positionals;
  if (!actions.includes(action))
    throw new UsageError(`${action} is not list, add, check or remove.${didYouMean(action, actions)}`);
  if (action === "list" && domain !== undefined)
    throw new UsageError(`${domain} is too much for list. See towpath help domains.`);
  if (action !== "list" && domain === undefined)
    throw new UsageError(`Name the domain: towpath domains NAME ${action} DOMAIN`);
  const path = `${projectPath(name)}/domains`;
  const api = await connectApi(values);
  if (action === "remove") return removeDomain(api, path, domain ?? "");
  const found = action === "list" ? await listDomains(api, path) : [await changed(api, path, { action, domain })];
  output(action === "list" ? found : found[0], () => printDomains(found));
  return 0;
}

const listDomains = async (api: Api, path: string) =>
  (await api.call("GET", path, z.object({ data: z.array(domainSchema) }))).data;

const changed = (api: Api, path: string, { action, domain = "" }: { action: string; domain: string | undefined }) =>
  action === "add"
    ? api.call("POST", path, domainSchema, { body: { domain } })
    : api.call("POST", `${path}/${encodeURIComponent(domain)}/check`, domainSchema);

async function removeDomain(api: Api, path: string, domain: string): Promise<number> {
  await api.call("DELETE", `${path}/${encodeURIComponent(domain)}`, z.object({ domain: z.string() }));
  output({ domain }, () => print(`${domain} no longer leads to the server.`));
  return 0;
}

function printDomains(found: readonly Domain[]): void {
  if (found.length === 0) print(`No domains. ${dim("towpath domains NAME add DOMAIN adds one.")}`);
  for (const { url, domain, activeAt, records } of found) {
    print(
      activeAt === null ? `${yellow("…")} ${bold(domain)} waits for its DNS records` : `${green("✓")} ${bold(url)}`,
    );
    for (const { type, name, value, seenAt, problem } of records) {
      print(`  ${type.padEnd(5)} ${name}  ${value}${seenAt === null ? "" : dim(`  seen ${ago(seenAt)}`)}`);
      if (problem !== null) print(`        ${problem}`);
    }
  }
}
