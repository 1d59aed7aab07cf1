import { apikey, member, user } from "@towpath/db/schema";
import { and, eq, inArray } from "drizzle-orm";
import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { isId } from "../../input/index.ts";
import { displayNameOf } from "./get-profile.ts";

/** Who called a server, as pages show it. */
export type PrincipalView = {
  /** As in the request log: `user:<id>`, `key:<id>`, `workload:<id>:<subject>`, `admin`, `anonymous`, or `check` for calls that are replayed (CAP-4). */
  readonly id: string;
  readonly kind: "user" | "key" | "workload" | "admin" | "anonymous" | "other";
  readonly name: string;
  /** Of a member, else null. */
  readonly email: string | null;
  /** Of a member who has one, else null. */
  readonly pictureUrl: string | null;
};

const maxPrincipals = 1000;

/**
 * Names and email addresses of principals. Only of current members of the organization and of its own keys: the
 * names of former members are none of its business.
 *
 * @returns a view for each principal, by its id
 */
export async function describePrincipals(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly principals: readonly string[] };
}): Promise<ReadonlyMap<string, PrincipalView>> {
  const { ctx, input } = call;
  const { organization } = await authorize(ctx, "organization.read", { orgSlug: input.orgSlug });
  const principals = [...new Set(input.principals)].slice(0, maxPrincipals);
  const idsOf = (prefix: string) =>
    principals.flatMap((each) => {
      const id = each.startsWith(prefix) ? each.slice(prefix.length) : "";
      return isId(id) ? [id] : [];
    });
  const [users, keys] = await Promise.all([
    ctx.db
      .select({
        id: user.id,
        firstName: user.firstName,
        lastName: user.lastName,
        email: user.email,
        pictureUrl: user.image,
      })
      .from(member)
      .innerJoin(user, eq(user.id, member.userId))
      .where(and(eq(member.organizationId, organization.id), inArray(member.userId, idsOf("user:")))),
    ctx.db
      .select({ id: apikey.id, name: apikey.name, start: apikey.start })
      .from(apikey)
      .where(and(eq(apikey.organizationId, organization.id), inArray(apikey.id, idsOf("key:")))),
  ]);
  const known = new Map<string, Described>([
    ...users.map((each) => {
      const { email, pictureUrl } = each;
      return [`user:${each.id}`, { name: displayNameOf(each), email, pictureUrl }] as const;
    }),
    ...keys.map((each) => [`key:${each.id}`, notAPerson(each.name ?? each.start ?? "API key")] as const),
  ]);
  return new Map(principals.map((id) => [id, { id, kind: kindOf(id), ...(known.get(id) ?? unnamed(id)) }]));
}

function kindOf(id: string): PrincipalView["kind"] {
  if (id === "admin" || id === "anonymous") return id;
  if (id.startsWith("user:")) return "user";
  if (id.startsWith("key:")) return "key";
  return subjectOf(id) === null ? "other" : "workload";
}

type Described = Pick<PrincipalView, "name" | "email" | "pictureUrl">;

/** Of a workload, which calls itself by it; null for others. */
const subjectOf = (id: string): string | null => /^workload:[0-9a-f-]{36}:(.+)$/.exec(id)?.[1] ?? null;

/** Who is no person. */
const notAPerson = (name: string): Described => ({ name, email: null, pictureUrl: null });

const otherName = (id: string): string => (id === "check" ? "Pull request check" : id);

function unnamed(id: string): Described {
  const names = {
    user: "Former member",
    key: "Deleted API key",
    admin: "Admin",
    anonymous: "Anonymous",
    other: otherName(id),
  };
  const kind = kindOf(id);
  return notAPerson(kind === "workload" ? (subjectOf(id) ?? id) : names[kind]);
}
