import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { editorState, keptState, markLine, textOf } from "./editor-setup.ts";

// CodeMirror is loaded with this module, so only by pages that show an editor.

export type Cursor = { readonly line: number; readonly column: number };

/** Positions in a text, from 0. */
export type Selection = { readonly anchor: number; readonly head: number };

export type EditorProps = {
  readonly path: string;
  /** What it starts with. Another `key` starts it with another text. */
  readonly text: string;
  /** The newest text of a file in conflict, to compare with. */
  readonly theirs: string | undefined;
  /** The line to mark and to show, from 1. */
  readonly line: number | undefined;
  /** Where the person was in the field that it replaces; null: somewhere else. */
  readonly left: RefObject<Selection | null>;
  /** States of files that were shown before, by their paths. */
  readonly states: Map<string, unknown>;
  readonly onText: (text: string) => void;
  readonly onCursor: (cursor: Cursor) => void;
};

/** Those whose editor had the focus when it was replaced: the next one takes it. */
const focused = new WeakSet<EditorProps["states"]>();

/** Whether the focus is at nothing in particular, as after following a link to this page. */
const isUnused = (element: Element | null) => element === null || element.matches("body, main");

/** A text field with line numbers and highlighted code, for one file at a time. */
export function Editor({ path, text, theirs, line, left, states, onText, onCursor }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef({ text, onText, onCursor });
  useLayoutEffect(() => {
    latest.current = { text, onText, onCursor };
  });
  // Before the browser handles another key, which belongs to this editor if the replaced field had the focus.
  useLayoutEffect(() => {
    const parent = host.current;
    if (!parent) return;
    const listener = EditorView.updateListener.of(({ state, docChanged, selectionSet }) => {
      if (docChanged) latest.current.onText(textOf(state));
      if (!docChanged && !selectionSet) return;
      const { head } = state.selection.main;
      const { number, from } = state.doc.lineAt(head);
      latest.current.onCursor({ line: number, column: head - from + 1 });
    });
    const comparison =
      theirs === undefined
        ? []
        : [
            unifiedMergeView({ original: theirs, mergeControls: true, gutter: true }),
            EditorState.phrases.of({ Accept: "Keep mine", Reject: "Take theirs" }),
          ];
    const setup = { path, text: latest.current.text, more: [listener, comparison] };
    const opened = new EditorView({ state: editorState(setup, states.get(path)), parent });
    view.current = opened;
    if (focused.delete(states)) opened.focus();
    const { length } = opened.state.doc;
    if (left.current && Math.max(left.current.anchor, left.current.head) <= length) {
      opened.dispatch({ selection: left.current });
      opened.focus();
    }
    left.current = null;
    return () => {
      if (opened.hasFocus) focused.add(states);
      states.set(path, keptState(opened.state));
      opened.destroy();
      view.current = null;
    };
  }, [path, theirs, states, left]);
  useEffect(() => {
    const opened = view.current;
    if (!opened) return;
    const shown = line !== undefined && line <= opened.state.doc.lines ? line : null;
    if (shown === null) return opened.dispatch({ effects: markLine.of(null) });
    const { from } = opened.state.doc.line(shown);
    const scroll = EditorView.scrollIntoView(from, { y: "center" });
    opened.dispatch({ effects: [markLine.of(shown), scroll], selection: { anchor: from } });
    // Somebody who came for the line can type at once; on phones the keyboard would cover it.
    if (isUnused(document.activeElement) && matchMedia("(pointer: fine)").matches) opened.focus();
  }, [line]);
  return <div ref={host} className="h-full min-h-0" />;
}
