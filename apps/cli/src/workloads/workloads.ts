import { readFile } from "node:fs/promises";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { connectApi } from "../instance/api.ts";
import { ownOrganization } from "../instance/own-organization.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { bold, CommandError, dim, green, output, print, red, UsageError, yellow } from "../terminal/terminal.ts";
import { ago } from "../terminal/time.ts";

const identitySchema = z.object({
  id: z.string(),
  name: z.string(),
  issuer: z.string(),
  subjects: z.array(z.string()),
  servers: z.array(z.object({ name: z.string() })).nullable(),
  status: z.string(),
  problem: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
});
type Identity = z.infer<typeof identitySchema>;

const actions = ["list", "add", "revoke", "remove"];

/** `towpath workloads [list | add | revoke ID | remove ID]`: whose tokens open servers without a key (KEY-6). */
export async function workloads(args: string[]): Promise<number> {
  const { values, positionals } = parse("workloads", args);
  const [action = "list", id] = positionals;
  if (!actions.includes(action))
    throw new UsageError(`${action} is not list, add, revoke or remove.${didYouMean(action, actions)}`);
  const takesId = action === "revoke" || action === "remove";
  if (takesId && id === undefined) throw new UsageError(`Name it by its id: towpath workloads ${action} ID`);
  if (!takesId && id !== undefined)
    throw new UsageError(`${id} is too much for ${action}. See towpath help workloads.`);
  const body = action === "add" ? await newIdentity(values) : null;
  const api = await connectApi(values);
  const slug = values.organization ?? (await ownOrganization(api));
  const path = `/api/v1/organizations/${encodeURIComponent(slug)}/workload-identities`;
  if (action === "remove") {
    const removed = await api.call("DELETE", `${path}/${encodeURIComponent(id ?? "")}`, z.object({ id: z.string() }));
    output(removed, () => print("Removed. Its workloads are refused within seconds."));
    return 0;
  }
  if (action === "list") {
    const found = await api.call("GET", path, z.array(identitySchema));
    output(found, () => printIdentities(found));
    return 0;
  }
  const changed = body
    ? await api.call("POST", path, identitySchema, { body })
    : await api.call("POST", `${path}/${encodeURIComponent(id ?? "")}/revoke`, identitySchema);
  output(changed, () => printIdentities([changed]));
  return 0;
}

type Values = ReturnType<typeof parse<"workloads">>["values"];

async function newIdentity(values: Values) {
  const { name, issuer, subject = [], server } = values;
  if (name === undefined || issuer === undefined || subject.length === 0)
    throw new UsageError("Say whose tokens: towpath workloads add --name NAME --issuer URL --subject PATTERN");
  return {
    name,
    issuer,
    subjects: subject,
    servers: server ?? null,
    jwksUrl: values["jwks-url"] ?? null,
    keySet: await contentOf(values["key-set"]),
    ca: await contentOf(values.ca),
  };
}

const contentOf = async (file: string | undefined) =>
  file === undefined
    ? null
    : await readFile(file, "utf8").catch(() => {
        throw new CommandError(`${file} can't be read. Check its path.`);
      });

function printIdentities(found: readonly Identity[]): void {
  if (found.length === 0) print(`No workload identities. ${dim("towpath workloads add adds one.")}`);
  for (const { id, name, issuer, subjects, servers, status, problem, lastUsedAt } of found) {
    const mark = status !== "active" ? red("✗") : problem === null ? green("✓") : yellow("!");
    const used = lastUsedAt === null ? "never used" : `used ${ago(lastUsedAt)}`;
    print(`${mark} ${bold(name)}  ${issuer}  ${dim(`${status}, ${used}`)}`);
    print(`  ${id}  ${subjects.join(" ")}  ${servers?.map((each) => each.name).join(", ") ?? "all servers"}`);
    if (problem !== null) print(`  ${problem}`);
  }
}
