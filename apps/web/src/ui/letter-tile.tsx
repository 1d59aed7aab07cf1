import { classNames } from "./class-names.ts";

const looks = [
  "bg-accent-soft text-accent-text",
  "bg-info-soft text-info",
  "bg-ok-soft text-ok",
  "bg-warn-soft text-warn",
  "bg-hover text-muted",
] as const;

/**
 * A letter of a name on a tile with a color derived from the name. Put it next to the name, as it has no text of its
 * own.
 */
export function LetterTile({ name, className }: { name: string; className?: string }) {
  const letter = /[\p{L}\p{N}]/u.exec(name)?.[0]?.toUpperCase() ?? "·";
  const sum = [...name.toLowerCase()].reduce((total, each) => total + (each.codePointAt(0) ?? 0), 0);
  return (
    <span
      aria-hidden
      className={classNames(
        "inline-flex size-4.5 shrink-0 items-center justify-center rounded-sm text-2xs leading-none font-semibold select-none",
        looks[sum % looks.length],
        className,
      )}
    >
      {letter}
    </span>
  );
}
