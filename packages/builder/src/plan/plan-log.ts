import type { BuildLogKind } from "@towpath/core/delivery/build/contract";

export type PlanLogLine = { readonly kind: BuildLogKind; readonly text: string };

/** Each choice of a plan with its reason, for the build log. */
export class PlanLog {
  readonly lines: PlanLogLine[] = [];

  step(text: string): void {
    this.lines.push({ kind: "step", text });
  }

  warn(text: string): void {
    this.lines.push({ kind: "warning", text });
  }
}
