import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { PlainButton } from "./button.tsx";
import { classNames } from "./class-names.ts";

const childrenPerPage = 100;
const maxTextLength = 1_000;
const maxDepth = 40;

/** A JSON value as a tree. Large values stay usable: it shows 100 children at a time and truncates long strings. */
export function JsonTree({ value, openTo = 2 }: { value: unknown; openTo?: number }) {
  return (
    <div className="scroll-thin overflow-x-auto font-mono text-xs leading-5">
      <Node name={null} value={value} depth={0} openTo={openTo} />
    </div>
  );
}

type NodeProps = { name: string | number | null; value: unknown; depth: number; openTo: number };

function Node({ name, value, depth, openTo }: NodeProps) {
  if (typeof value === "object" && value !== null && depth < maxDepth) {
    return <Branch name={name} value={value} depth={depth} openTo={openTo} />;
  }
  return (
    <div className="flex gap-1.5 pl-4.5">
      <Name name={name} />
      <Leaf value={value} />
    </div>
  );
}

function Name({ name }: { name: string | number | null }) {
  if (name === null) return null;
  return (
    <span className="shrink-0 text-muted">
      {name}
      <span className="text-faint">:</span>
    </span>
  );
}

function Branch({ name, value, depth, openTo }: NodeProps & { value: object }) {
  const [open, setOpen] = useState(depth < openTo);
  const [shown, setShown] = useState(childrenPerPage);
  const isArray = Array.isArray(value);
  const entries: [string | number, unknown][] = isArray
    ? value.map((item, index) => [index, item])
    : Object.entries(value);
  const summary = isArray ? `[${entries.length}]` : `{${entries.length}}`;
  return (
    <div>
      <PlainButton
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex min-h-6 items-center gap-1 rounded-sm pr-1 hover:bg-hover"
      >
        <ChevronRight
          className={classNames("size-3.5 shrink-0 text-faint transition-transform duration-100", open && "rotate-90")}
        />
        <Name name={name} />
        <span className="text-faint">{summary}</span>
      </PlainButton>
      {open && (
        <div className="ml-1.5 border-l pl-2">
          {entries.slice(0, shown).map(([key, child]) => (
            <Node key={key} name={key} value={child} depth={depth + 1} openTo={openTo} />
          ))}
          {entries.length > shown && (
            <PlainButton
              onClick={() => setShown(shown + childrenPerPage)}
              className="ml-4.5 min-h-6 text-accent-text hover:underline"
            >
              {entries.length - shown} more
            </PlainButton>
          )}
        </div>
      )}
    </div>
  );
}

function Leaf({ value }: { value: unknown }) {
  const [all, setAll] = useState(false);
  if (typeof value === "string") {
    const cut = !all && value.length > maxTextLength;
    return (
      <span className="min-w-0 break-words whitespace-pre-wrap text-ok">
        "{cut ? value.slice(0, maxTextLength) : value}"
        {cut && (
          <PlainButton onClick={() => setAll(true)} className="ml-1 text-accent-text hover:underline">
            {value.length - maxTextLength} more characters
          </PlainButton>
        )}
      </span>
    );
  }
  const look = typeof value === "number" ? "text-info" : "text-warn";
  return <span className={look}>{typeof value === "object" ? JSON.stringify(value) : String(value)}</span>;
}
