import { useRef, useState } from "react";
import { parseEnvBlock, type Variable } from "./env-block.ts";
import { isBlank, problemsOf, type RowProblem, spread, type VariableRow } from "./variable-rows.ts";

export type Variables = {
  readonly rows: readonly VariableRow[];
  /** In the order of `rows`; nothing before somebody tried to deploy, names excepted, which are told while one types. */
  readonly problems: readonly RowProblem[];
  /** What will be stored. */
  readonly filled: readonly Variable[];
  readonly isValid: boolean;
  change(id: number, changed: Partial<Variable>): void;
  paste(id: number, text: string): number;
  add(): void;
  remove(id: number): void;
  showAllProblems(): void;
};

/** The variables that a new server begins with (ONB-5, ONB-12). They live in memory only: no address, no storage. */
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
    change: (id, changed) => setRows(rows.map((row) => (row.id === id ? { ...row, ...changed } : row))),
    paste: (id, text) => {
      const pasted = parseEnvBlock(text);
      setRows(spread(rows, id, pasted, nextId.current));
      nextId.current += pasted.length;
      return pasted.length;
    },
    add: () => setRows([...rows, fresh()]),
    remove: (id) => {
      const left = rows.filter((row) => row.id !== id);
      setRows(left.length > 0 ? left : [fresh()]);
    },
    showAllProblems: () => setChecked(true),
  };
}
