import { secretKeyNameSchema, secretValueSchema } from "@towpath/core/secret/schema";
import type { Variable } from "./env-block.ts";

/** A row of the form. `id` stays when rows before it go, so that fields keep their focus. */
export type VariableRow = Variable & { readonly id: number };

/** What is wrong with a row, null for nothing. */
export type RowProblem = { readonly keyName: string | null; readonly secretValue: string | null };

/** Empty rows don't count. */
export const isBlank = (row: Variable): boolean => row.keyName === "" && row.secretValue === "";

/** VAL-4 for each row, beside a name that another row before it has. */
export function problemsOf(rows: readonly Variable[]): readonly RowProblem[] {
  return rows.map((row, index) => {
    if (isBlank(row)) return { keyName: null, secretValue: null };
    const isRepeated = rows.slice(0, index).some((other) => other.keyName === row.keyName);
    const faulty = secretKeyNameSchema.safeParse(row.keyName).error?.issues[0]?.message;
    return {
      keyName: faulty ?? (isRepeated ? "Each variable can be given once" : null),
      secretValue: secretValueSchema.safeParse(row.secretValue).error?.issues[0]?.message ?? null,
    };
  });
}

/** Spreads a pasted block: a name that is there already gets its value, others take the place of the row or follow it. */
export function spread(rows: readonly VariableRow[], at: number, pasted: readonly Variable[], nextId: number) {
  const values = new Map(pasted.map((each) => [each.keyName, each.secretValue]));
  const kept = rows.map((row) => ({ ...row, secretValue: values.get(row.keyName) ?? row.secretValue }));
  const known = new Set(rows.map((row) => row.keyName));
  const added = pasted
    .filter((each) => !known.has(each.keyName))
    .map((each, index) => ({ ...each, id: nextId + index }));
  const place = kept.findIndex((row) => row.id === at);
  const target = kept[place];
  return target && isBlank(target) && added.length > 0
    ? kept.toSpliced(place, 1, ...added)
    : kept.toSpliced(place + 1, 0, ...added);
}
