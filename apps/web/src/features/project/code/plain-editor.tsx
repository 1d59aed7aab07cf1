import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import type { Cursor, Selection } from "./editor.tsx";

type PlainEditorProps = {
  readonly path: string;
  readonly text: string;
  /** Whether the person may type: not before what an earlier page kept was read. */
  readonly isReady: boolean;
  /** Set when the editor takes its place, for it to go on at the same place. */
  readonly left: RefObject<Selection | null>;
  /** Undefined for a text that only the editor keeps as it is. */
  readonly onText: ((text: string) => void) | undefined;
  readonly onCursor: (cursor: Cursor) => void;
  /** Called at a sign that somebody will write. */
  readonly onUse: () => void;
};

/** The texts that a browser's own field doesn't change: it ends all lines with LF. */
export const isPlain = (text: string): boolean => !text.includes("\r");

/** What is before a position, as line and column from 1. */
function cursorAt(text: string, position: number): Cursor {
  const before = text.slice(0, position);
  return { line: before.split("\n").length, column: position - before.lastIndexOf("\n") };
}

/**
 * A file's text as the server renders it, with line numbers, in the browser's own field. It works without the editor,
 * whose code is five times that of the page, and looks like it, so that nothing moves when the editor takes its place.
 */
export function PlainEditor({ path, text, isReady, left, onText, onCursor, onUse }: PlainEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it may have the focus since before the page's script ran
  useEffect(() => {
    if (document.activeElement === field.current) onUse();
  }, []);
  useLayoutEffect(() => {
    const element = field.current;
    return () => {
      const hasFocus = element !== null && document.activeElement === element;
      left.current = hasFocus ? { anchor: element.selectionStart, head: element.selectionEnd } : null;
    };
  }, [left]);
  const lines = text.split("\n").length;
  return (
    <div className="scroll-thin h-full overflow-auto font-mono text-[0.8125rem] leading-[1.6]">
      <div className="flex min-h-full w-max min-w-full">
        <pre aria-hidden className="min-w-11 shrink-0 py-2 pr-2 pl-3 text-right text-faint select-none">
          {Array.from({ length: lines }, (_, index) => index + 1).join("\n")}
        </pre>
        <div className="relative min-w-0 flex-1">
          {/* As large as the field's text, which has no size of its own. */}
          <pre aria-hidden className="invisible py-2 pr-4 pl-2">{`${text}\n`}</pre>
          <textarea
            ref={field}
            aria-label={`Text of ${path}`}
            value={text}
            readOnly={!isReady || onText === undefined}
            wrap="off"
            spellCheck={false}
            autoCapitalize="off"
            autoCorrect="off"
            autoComplete="off"
            className="absolute inset-0 resize-none overflow-hidden bg-transparent py-2 pr-4 pl-2 whitespace-pre outline-none"
            onPointerEnter={onUse}
            onFocus={onUse}
            onChange={({ target }) => onText?.(target.value)}
            onSelect={({ currentTarget }) => onCursor(cursorAt(text, currentTarget.selectionEnd))}
          />
        </div>
      </div>
    </div>
  );
}
