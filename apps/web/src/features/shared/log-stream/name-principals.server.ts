import type { Context } from "@towpath/core/context";
import { describePrincipals, type PrincipalView } from "@towpath/core/tenancy/organization";

export type WithPrincipal<Entry> = Omit<Entry, "principal"> & { readonly principal: PrincipalView };

/** The entries with callers' names instead of their ids. */
export async function namePrincipals<Entry extends { readonly principal: string }>(
  ctx: Context,
  orgSlug: string,
  entries: readonly Entry[],
): Promise<WithPrincipal<Entry>[]> {
  const views = await describePrincipals({
    ctx,
    input: { orgSlug, principals: entries.map((each) => each.principal) },
  });
  return entries.flatMap((entry) => {
    const principal = views.get(entry.principal);
    return principal ? [{ ...entry, principal }] : [];
  });
}

/** The entries with callers' names in addition to their ids. */
export async function nameCallers<Entry extends { readonly principal: string }>(
  ctx: Context,
  orgSlug: string,
  entries: readonly Entry[],
): Promise<(Entry & { readonly caller: PrincipalView })[]> {
  const named = await namePrincipals(ctx, orgSlug, entries);
  return named.map((entry, at) => ({ ...(entries[at] as Entry), caller: entry.principal }));
}
