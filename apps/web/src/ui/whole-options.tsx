import type { ReactNode } from "react";

/** A command, in which lines don't end within an option, such as after the first hyphen of `--transport`. */
export const withWholeOptions = (code: string): ReactNode =>
  code.split(/(?<!\S)(--?\w[\w-]*)/).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a constant text
      <span key={index} className="whitespace-nowrap">
        {part}
      </span>
    ) : (
      part
    ),
  );
