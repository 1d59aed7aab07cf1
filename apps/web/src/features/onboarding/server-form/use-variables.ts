import { secretKeyNameProblem, secretValueProblem } from "@towpath/core/projects/secret/schema";
import { useRef, useState } from "react";
import { parseEnvBlock, type Variable } from "./env-block.ts";

export type Variables = {
  readonly rows: readonly VariableRow[];
  /** In the order of `rows`. Before the first attempt to submit, only typed names are checked. */
  readonly problems: readonly RowProblem[];
  /** The variables to store. */
  readonly filled: readonly Variable[];
  readonly isValid: boolean;
  change(id: number, changed: Partial<Variable>): void;
  paste(id: number, text: string): number;
  add(): void;
  /** Adds a row with a name, replacing a blank one. */
  offer(keyName: string): void;
  remove(id: number): void;
  showAllProblems(): void;
  /** Back to one blank row, after saving. */
  clear(): void;
};

/** State of the variables form (ONB-5, ONB-12). Values stay in memory: never in the URL or in storage. */
export function useVariables(names: readonly string[]): Variables {
  const nextId = useRef(names.length + 1);
  const [rows, setRows] = useState<readonly VariableRow[]>(() =>
    (names.length > 0 ? names : [""]).map((keyName, id) => ({ id, keyName, secretValue: "" })),
  );
  const [isChecked, setChecked] = useState(false);
  const found = problemsOf(rows);
  const fresh = (): VariableRow => ({ id: nextId.current++, keyName: "", secretValue: "" });
  return {
    rows,
    problems: found.map((problem, index) =>
      isChecked ? problem : { keyName: rows[index]?.keyName ? problem.keyName : null, secretValue: null },
    ),
    filled: rows.filter((row) => !isBlank(row)).map(({ keyName, secretValue }) => ({ keyName, secretValue })),
    isValid: found.every((problem) => problem.keyName === null && problem.secretValue === null),
    change: (id, changed) => setRows((current) => current.map((row) => (row.id === id ? { ...row, ...changed } : row))),
    paste: (id, text) => {
      const pasted = parseEnvBlock(text);
      setRows(applyPaste(rows, id, pasted, nextId.current));
      nextId.current += pasted.length;
      return pasted.length;
    },
    add: () => setRows([...rows, fresh()]),
    offer: (keyName) => {
      const blank = rows.find(isBlank);
      const row = blank ?? fresh();
      const named = { ...row, keyName };
      setRows(blank ? rows.map((each) => (each === blank ? named : each)) : [...rows, named]);
    },
    remove: (id) => {
      const left = rows.filter((row) => row.id !== id);
      setRows(left.length > 0 ? left : [fresh()]);
    },
    showAllProblems: () => setChecked(true),
    clear: () => {
      setRows([fresh()]);
      setChecked(false);
    },
  };
}

/** A row of the form. `id` is stable when other rows are removed, so that fields keep focus. */
export type VariableRow = Variable & { readonly id: number };

/** A row's errors; null for none. */
export type RowProblem = { readonly keyName: string | null; readonly secretValue: string | null };

/** Blank rows are ignored. */
const isBlank = (row: Variable): boolean => row.keyName === "" && row.secretValue === "";

/** Checks VAL-4 for each row, and that no name repeats an earlier row's. */
export function problemsOf(rows: readonly Variable[]): readonly RowProblem[] {
  return rows.map((row, index) => {
    if (isBlank(row)) return { keyName: null, secretValue: null };
    const isRepeated = rows.slice(0, index).some((other) => other.keyName === row.keyName);
    return {
      keyName: secretKeyNameProblem(row.keyName) ?? (isRepeated ? "Each name can appear only once" : null),
      secretValue: secretValueProblem(row.secretValue),
    };
  });
}

/** Applies a block pasted into row `at`: known names get the new values; new ones replace a blank row, or follow it. */
export function applyPaste(rows: readonly VariableRow[], at: number, pasted: readonly Variable[], nextId: number) {
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
