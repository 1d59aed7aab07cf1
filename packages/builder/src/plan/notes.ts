import type { BuildLogKind } from "@towpath/core/build/contract";

export type PlanNote = { readonly kind: BuildLogKind; readonly text: string };

/** Each choice of a plan with its reason, for the build log. */
export class PlanNotes {
  readonly list: PlanNote[] = [];

  step(text: string): void {
    this.list.push({ kind: "step", text });
  }

  warn(text: string): void {
    this.list.push({ kind: "warning", text });
  }
}
