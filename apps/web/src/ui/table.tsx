import { ArrowDown, ArrowUp } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { PlainButton } from "./button.tsx";
import { classNames } from "./class-names.ts";
import type { ColumnSort } from "./use-sorted.ts";

// Browsers drop the semantics of a table whose parts are laid out as blocks or grids. The roles restore them.
const roles = {
  table: { role: "table" },
  group: { role: "rowgroup" },
  row: { role: "row" },
  head: { role: "columnheader" },
  cell: { role: "cell" },
} as const;

/**
 * A table that becomes a list of cards below 640 px. Give every `Td` its column's `label`, which cards show instead of
 * the header; they keep the header's sort buttons.
 */
export function Table({ className, label, children }: { className?: string; label: string; children: ReactNode }) {
  return (
    <table
      {...roles.table}
      aria-label={label}
      className={classNames("w-full border-collapse text-left text-sm max-sm:block", className)}
    >
      {children}
    </table>
  );
}

type TableHeadProps = {
  columns?: readonly string[];
  sort?: (column: string) => ColumnSort | undefined;
  hasActions?: boolean;
  children?: ReactNode;
};

/**
 * `columns`: names of plain columns; others are `Th` children. `sort`: of `useSorted`, for the plain ones.
 * `hasActions`: the last column has buttons.
 */
export function TableHead({ columns = [], sort, hasActions = false, children }: TableHeadProps) {
  return (
    // Above cards: the sort buttons, if any, for at least two rows.
    <thead
      {...roles.group}
      className="max-sm:block max-sm:border-b max-sm:px-4 max-sm:py-2 max-sm:not-has-[button]:sr-only max-sm:[table:not(:has(tbody>tr+tr))>&]:hidden"
    >
      <tr {...roles.row} className="max-sm:flex max-sm:flex-wrap max-sm:items-center max-sm:gap-1.5">
        <td aria-hidden className="text-xs text-muted sm:hidden">
          Sort by
        </td>
        {columns.map((name) => (
          <Th key={name} sort={sort?.(name)}>
            {name}
          </Th>
        ))}
        {children}
        {hasActions ? (
          <Th>
            <span className="sr-only">Actions</span>
          </Th>
        ) : null}
      </tr>
    </thead>
  );
}

/** `sort`: makes the name a button that sorts by the column. */
export function Th({ className, sort, children, ...rest }: ComponentProps<"th"> & { sort?: ColumnSort | undefined }) {
  const Arrow = sort?.direction === "descending" ? ArrowDown : ArrowUp;
  return (
    <th
      {...roles.head}
      scope="col"
      aria-sort={sort && sort.direction !== "none" ? sort.direction : undefined}
      className={classNames(
        "h-8 border-b px-3 text-xs font-medium whitespace-nowrap text-muted first-of-type:pl-4 last:pr-4",
        "max-sm:h-auto max-sm:w-auto! max-sm:border-0 max-sm:p-0!",
        !sort && "max-sm:sr-only",
        className,
      )}
      {...rest}
    >
      {sort ? (
        <PlainButton
          onClick={sort.onSort}
          className={classNames(
            "group/sort inline-flex min-h-6 items-center gap-1 rounded-sm hover:text-ink sm:in-[.text-right]:flex-row-reverse",
            "max-sm:min-h-9 max-sm:rounded-full max-sm:border max-sm:px-3",
            sort.direction !== "none" && "max-sm:border-line-strong max-sm:bg-hover max-sm:text-ink",
          )}
        >
          {children}
          <Arrow
            aria-hidden
            className={classNames(
              "size-3",
              sort.direction === "none" &&
                "opacity-0 group-hover/sort:opacity-60 group-focus-visible/sort:opacity-60 max-sm:hidden",
            )}
          />
        </PlainButton>
      ) : (
        children
      )}
    </th>
  );
}

/** The link or button that opens a row. It covers a row that is `relative`; give it `data-row` for the keys of lists. */
export const rowLinkLook =
  "block min-w-0 truncate font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus";

export function TableBody({ className, ...rest }: ComponentProps<"tbody">) {
  return <tbody {...roles.group} className={classNames("max-sm:block", className)} {...rest} />;
}

export function Tr({ className, ...rest }: ComponentProps<"tr">) {
  return (
    <tr
      {...roles.row}
      className={classNames(
        "group border-b last:border-b-0 hover:bg-hover/60 max-sm:grid max-sm:grid-cols-2 max-sm:gap-x-4 max-sm:gap-y-1.5 max-sm:px-4 max-sm:py-3",
        className,
      )}
      {...rest}
    />
  );
}

export function Td({
  className,
  label,
  wide,
  children,
  ...rest
}: ComponentProps<"td"> & { label?: string; wide?: boolean }) {
  return (
    <td
      {...roles.cell}
      className={classNames(
        "h-10 px-3 py-1.5 align-middle first:pl-4 last:pr-4 max-sm:block max-sm:h-auto max-sm:min-w-0 max-sm:p-0! empty:max-sm:hidden",
        wide && "max-sm:col-span-2",
        className,
      )}
      {...rest}
    >
      {label && <span className="mb-0.5 block font-sans text-2xs text-faint sm:hidden">{label}</span>}
      {children}
    </td>
  );
}
