import { apikey, member, user } from "@towpath/db/schema";
import { and, eq, or, sql } from "drizzle-orm";
import { authorize } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";

const maxFound = 100;

/**
 * The principals that a text names: members by email address or name, keys by name, in any case; or a
 * principal as logged, such as `user:<id>` or `anonymous`.
 *
 * @throws TowpathError `invalid_input` when nobody of the organization is called so
 */
export async function findPrincipals({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly text: string }>): Promise<readonly string[]> {
  const { organization } = await authorize(ctx, "organization.read", { orgSlug: input.orgSlug });
  const given = input.text.trim();
  // Subjects of workloads are as their issuer spells them.
  if (/^workload:\S+$/.test(given)) return [given];
  const text = given.toLowerCase();
  if (/^(admin|anonymous|check|user:\S+|key:\S+)$/.test(text)) return [text];
  const name = sql`lower(trim(concat_ws(' ', ${user.firstName}, ${user.lastName})))`;
  const [members, keys] = await Promise.all([
    ctx.db
      .select({ id: member.userId })
      .from(member)
      .innerJoin(user, eq(user.id, member.userId))
      .where(
        and(
          eq(member.organizationId, organization.id),
          or(
            sql`lower(${user.email}) = ${text}`,
            sql`coalesce(nullif(${name}, ''), lower(split_part(${user.email}, '@', 1))) = ${text}`,
          ),
        ),
      )
      .limit(maxFound),
    ctx.db
      .select({ id: apikey.id })
      .from(apikey)
      .where(
        and(
          eq(apikey.organizationId, organization.id),
          sql`lower(coalesce(${apikey.name}, ${apikey.start})) = ${text}`,
        ),
      )
      .limit(maxFound),
  ]);
  const found = [...members.map(({ id }) => `user:${id}`), ...keys.map(({ id }) => `key:${id}`)];
  if (found.length > 0) return found.slice(0, maxFound);
  const message = `No member and no API key of this organization is called “${input.text}”. Use an email address, the name of a person or key, or anonymous.`;
  throw new TowpathError("invalid_input", message, { fields: { user: message } });
}
