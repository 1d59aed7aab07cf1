import { type Column, numberColumn } from "./data-table.tsx";
import { formatCount } from "./figure.tsx";

type Counts = { readonly calls: number; readonly errors: number };

/** With fewer calls a rate means little: one failed call of three doesn't predict a third. */
const minCallsForAlarm = 20;

/** Whether errors are shown in red. */
export const isAlarming = ({ calls, errors }: Counts): boolean => errors > 0 && calls >= minCallsForAlarm;

/** The tone of what is shown only where there are errors. */
export const errorTone = (counts: Counts): "bad" | "warn" => (isAlarming(counts) ? "bad" : "warn");

/** How many of the calls failed. */
export function ErrorCount(counts: Counts) {
  return (
    <span className={isAlarming(counts) ? "text-bad" : counts.errors > 0 ? undefined : "text-muted"}>
      {formatCount(counts.errors)}
    </span>
  );
}

/** How many calls there were, and how many of them failed. */
export const callColumns = <Row extends Counts>(): readonly Column<Row>[] => [
  numberColumn("Calls", ({ calls }) => calls, formatCount),
  numberColumn(
    "Errors",
    ({ errors }) => errors,
    (_, counts) => <ErrorCount {...counts} />,
  ),
];
