import { classNames } from "./class-names.ts";

/** A turning ring of the text's colour. `label` is read out; without one it is decoration beside a text. */
export function Spinner({ className, label }: { className?: string; label?: string }) {
  return (
    <>
      <svg
        viewBox="0 0 16 16"
        className={classNames("size-4 shrink-0 animate-spin", className)}
        fill="none"
        strokeWidth="2"
        aria-hidden="true"
      >
        <circle cx="8" cy="8" r="6" stroke="currentColor" opacity="0.22" />
        <path d="M14 8a6 6 0 0 0-6-6" stroke="currentColor" strokeLinecap="round" />
      </svg>
      {label && (
        <span role="status" className="sr-only">
          {label}
        </span>
      )}
    </>
  );
}
