import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { connectApi } from "../instance/api.ts";
import { ownOrganization } from "../instance/own-organization.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { bold, dim, green, output, print, UsageError, yellow } from "../terminal/terminal.ts";
import { ago } from "../terminal/time.ts";

const issuerSchema = z.object({
  id: z.string(),
  name: z.string(),
  issuer: z.string(),
  matchesEmail: z.boolean(),
  problem: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
});
type Issuer = z.infer<typeof issuerSchema>;

const actions = ["list", "add", "remove"];

/** `towpath sign-in-issuers [list | add | remove ID]`: whose assertions let members in without a sign-in (CAP-3). */
export async function signInIssuers(args: string[]): Promise<number> {
  const { values, positionals } = parse("sign-in-issuers", args);
  const [action = "list", id] = positionals;
  if (!actions.includes(action))
    throw new UsageError(`${action} is not list, add or remove.${didYouMean(action, actions)}`);
  if (action === "remove" && id === undefined)
    throw new UsageError("Name it by its id: towpath sign-in-issuers remove ID");
  if (action !== "remove" && id !== undefined)
    throw new UsageError(`${id} is too much for ${action}. See towpath help sign-in-issuers.`);
  const { name, issuer } = values;
  if (action === "add" && (name === undefined || issuer === undefined))
    throw new UsageError("Say whose assertions: towpath sign-in-issuers add --name NAME --issuer URL");
  const api = await connectApi(values);
  const slug = values.organization ?? (await ownOrganization(api));
  const path = `/api/v1/organizations/${encodeURIComponent(slug)}/sign-in-issuers`;
  if (action === "remove") {
    const removed = await api.call("DELETE", `${path}/${encodeURIComponent(id ?? "")}`, z.object({ id: z.string() }));
    output(removed, () => print("Removed. The tokens that it gave are refused within a second."));
    return 0;
  }
  if (action === "add") {
    const body = { name, issuer, matchesEmail: values["match-email"] ?? false };
    const added = await api.call("POST", path, issuerSchema, { body });
    output(added, () => printIssuers([added]));
    return 0;
  }
  const found = await api.call("GET", path, z.array(issuerSchema));
  output(found, () => printIssuers(found));
  return 0;
}

function printIssuers(found: readonly Issuer[]): void {
  if (found.length === 0) print(`No identity provider. ${dim("towpath sign-in-issuers add adds one.")}`);
  for (const { id, name, issuer, matchesEmail, problem, lastUsedAt } of found) {
    const used = lastUsedAt === null ? "never used" : `used ${ago(lastUsedAt)}`;
    print(`${problem === null ? green("✓") : yellow("!")} ${bold(name)}  ${issuer}  ${dim(used)}`);
    print(`  ${id}  ${matchesEmail ? "members by account, or by verified email" : "members by account"}`);
    if (problem !== null) print(`  ${problem}`);
  }
}
