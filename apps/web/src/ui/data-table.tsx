import type { ReactNode } from "react";
import { Table, TableBody, TableHead, Td, Th, Tr } from "./table.tsx";
import { RelativeTime } from "./time.tsx";
import { type KeptOrder, type SortValue, useSorted } from "./use-sorted.ts";

/** A column of a `DataTable`: its header, and a cell for each row. */
export type Column<Row> = {
  readonly name: string;
  /** What rows are compared by; absent: they can't be sorted by this column. */
  readonly by?: (row: Row) => SortValue;
  readonly cell: (row: Row) => ReactNode;
  /** Whether the cell is as wide as a card. */
  readonly wide?: boolean;
  /** Whether cards show the cell without the name: of what names the row, and of buttons. */
  readonly isUnlabeled?: boolean;
  /** Whether only screen readers get the header. */
  readonly isNameHidden?: boolean;
  readonly className?: string;
  readonly headClassName?: string;
};

type Named<Row> = Partial<Column<Row>> & Pick<Column<Row>, "cell">;

/** What names the row. */
export const leadColumn = <Row,>(name: string, by: Column<Row>["by"], rest: Named<Row>): Column<Row> => ({
  name,
  by,
  wide: true,
  isUnlabeled: true,
  ...rest,
});

/** Aligned to the right; `text` gets values that are not null. */
export const numberColumn = <Row, Value extends number | null | undefined>(
  name: string,
  by: (row: Row) => Value,
  text: (value: NonNullable<Value>, row: Row) => ReactNode,
  className = "",
): Column<Row> => ({
  name,
  by,
  headClassName: "text-right",
  className: `tabular ${className} sm:text-right`,
  cell(row) {
    const value = by(row);
    return value === null || value === undefined ? "–" : text(value, row);
  },
});

/** When something happened, relative to now; `none` for null. */
export const timeColumn = <Row,>(
  name: string,
  by: (row: Row) => string | null | undefined,
  rest: Partial<Column<Row>> & { readonly none?: string } = {},
): Column<Row> => ({
  name,
  by,
  className: "text-muted",
  cell(row) {
    const time = by(row);
    return time ? <RelativeTime time={time} /> : (rest.none ?? "Never");
  },
  ...rest,
});

/** Buttons and menus at the end of a row. */
export const actionsColumn = <Row,>(cell: Column<Row>["cell"], rest: Partial<Column<Row>> = {}): Column<Row> => ({
  name: "Actions",
  cell,
  isNameHidden: true,
  isUnlabeled: true,
  wide: true,
  className: "text-right max-sm:justify-self-end",
  ...rest,
});

type DataTableProps<Row> = {
  /** Names the table for screen readers. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  /** Whether the rows are the whole list: the order of a part would mislead. */
  readonly isWhole?: boolean;
  /** Where the order is kept; default: in the table. */
  readonly kept?: KeptOrder;
  readonly rowClassName?: string;
};

/** A table of which each column is described once; readers sort by its headers. */
export function DataTable<Row>({ label, rows, keyOf, columns, isWhole, kept, rowClassName }: DataTableProps<Row>) {
  const values = Object.fromEntries(columns.flatMap(({ name, by }) => (by ? [[name, by]] : [])));
  const { rows: sorted, sort } = useSorted(rows, values, isWhole, kept);
  return (
    <Table label={label}>
      <TableHead>
        {columns.map(({ name, isNameHidden, headClassName }) => (
          <Th key={name} sort={sort(name)} className={headClassName}>
            {isNameHidden ? <span className="sr-only">{name}</span> : name}
          </Th>
        ))}
      </TableHead>
      <TableBody>
        {sorted.map((row) => (
          <Tr key={keyOf(row)} className={rowClassName}>
            {columns.map(({ name, isUnlabeled, wide, className, cell }) => (
              <Td key={name} wide={wide} label={isUnlabeled ? undefined : name} className={className}>
                {cell(row)}
              </Td>
            ))}
          </Tr>
        ))}
      </TableBody>
    </Table>
  );
}
