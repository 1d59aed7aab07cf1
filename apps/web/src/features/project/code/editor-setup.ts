import { defaultKeymap, history, historyField, historyKeymap, indentWithTab } from "@codemirror/commands";
import { jsonLanguage } from "@codemirror/lang-json";
import { pythonLanguage } from "@codemirror/lang-python";
import { yamlLanguage } from "@codemirror/lang-yaml";
import {
  bracketMatching,
  defineLanguageFacet,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  Language,
  StreamLanguage,
  syntaxHighlighting,
} from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { parser as markdown } from "@lezer/markdown";

/** Of the whole package for Markdown, which highlights HTML, CSS and JavaScript in it, too, only this is used. */
const markdownLanguage = new Language(defineLanguageFacet(), markdown, [], "markdown");

const languages: readonly (readonly [name: RegExp, Language])[] = [
  [/\.pyi?$/, pythonLanguage],
  [/\.(toml|lock)$/, StreamLanguage.define(toml)],
  [/\.(json|jsonc|ipynb)$/, jsonLanguage],
  [/\.ya?ml$/, yamlLanguage],
  [/\.(md|markdown)$/, markdownLanguage],
];

const languageOf = (path: string): Extension => {
  const name = path.toLowerCase();
  return languages.find(([pattern]) => pattern.test(name))?.[1].extension ?? [];
};

/** The colors of `prose.css`, readable in both themes. */
const colors = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.self], color: "var(--info)" },
    {
      tag: [tags.function(tags.variableName), tags.className, tags.propertyName, tags.meta],
      color: "var(--accent-text)",
    },
    { tag: [tags.heading], color: "var(--accent-text)", fontWeight: "600" },
    { tag: [tags.string, tags.special(tags.string)], color: "var(--ok)" },
    { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.escape], color: "var(--warn)" },
    { tag: [tags.comment, tags.quote], color: "var(--faint)" },
    { tag: [tags.link, tags.url], color: "var(--accent-text)", textDecoration: "underline" },
    { tag: tags.emphasis, fontStyle: "italic" },
    { tag: tags.strong, fontWeight: "600" },
    { tag: tags.invalid, color: "var(--bad)" },
  ]),
);

const look = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--surface)", color: "var(--ink)", fontSize: "0.8125rem" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.6", scrollbarWidth: "thin" },
  ".cm-content": { padding: "0.5rem 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 1rem 0 0.5rem" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--faint)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 0.5rem 0 0.75rem", minWidth: "2.75rem" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--hover) 55%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--hover)", color: "var(--ink)" },
  "& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":
    { backgroundColor: "color-mix(in srgb, var(--focus) 28%, transparent)" },
  ".cm-selectionMatch, .cm-searchMatch": { backgroundColor: "var(--warn-soft)" },
  ".cm-searchMatch-selected": { outline: "2px solid var(--warn)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  ".cm-marked": { backgroundColor: "var(--warn-soft)", boxShadow: "inset 3px 0 0 var(--warn)" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-panel.cm-search": { padding: "0.5rem 2rem 0.5rem 0.75rem", fontFamily: "var(--font-sans)" },
  ".cm-panel.cm-search label": { fontSize: "0.75rem" },
  ".cm-panel.cm-search [name=close]": { minWidth: "1.5rem", minHeight: "1.5rem", fontSize: "1rem" },
  ".cm-textfield": {
    border: "1px solid var(--line-strong)",
    borderRadius: "0.375rem",
    backgroundColor: "var(--surface)",
    padding: "0.2rem 0.5rem",
    fontSize: "0.75rem",
  },
  ".cm-button": {
    border: "1px solid var(--line)",
    borderRadius: "0.375rem",
    background: "var(--surface)",
    padding: "0.2rem 0.6rem",
    minHeight: "1.5rem",
    fontSize: "0.75rem",
  },
  // A file in conflict (`unifiedMergeView`).
  ".cm-changedLine": { backgroundColor: "var(--ok-soft) !important" },
  ".cm-changedText": { background: "none !important", textDecoration: "underline dotted" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-soft) !important", paddingLeft: "0.5rem" },
  ".cm-deletedChunk .cm-deletedText": { background: "none !important", textDecoration: "underline dotted" },
  ".cm-deletedChunk .cm-chunkButtons": { insetInlineEnd: "0.5rem" },
  ".cm-chunkButtons button": {
    border: "1px solid var(--line)",
    borderRadius: "0.25rem",
    background: "var(--surface) !important",
    color: "var(--ink) !important",
    padding: "0.1rem 0.5rem",
    minHeight: "1.5rem",
    fontSize: "0.75rem",
  },
});

/** Marks a line, from 1; null: none. */
export const markLine = StateEffect.define<number | null>();

const markedLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { effects, changes, state }) {
    const effect = effects.findLast((each) => each.is(markLine));
    if (!effect) return marks.map(changes);
    const { value } = effect;
    if (value === null || value > state.doc.lines) return Decoration.none;
    return Decoration.set([Decoration.line({ class: "cm-marked" }).range(state.doc.line(value).from)]);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** The ends of lines stay as they are: where all are CRLF, new ones are, too; single ones are characters of their lines. */
const separatorOf = (text: string) => (text.includes("\n") && !/(^|[^\r])\n/.test(text) ? "\r\n" : "\n");

type Setup = { readonly path: string; readonly text: string; readonly more: Extension };

/** What an editor of a file starts with. `kept`: an earlier state of it, with what can be undone. */
export function editorState({ path, text, more }: Setup, kept: unknown): EditorState {
  const isPython = /\.pyi?$/.test(path);
  const extensions: Extension = [
    EditorState.lineSeparator.of(separatorOf(text)),
    EditorView.contentAttributes.of({ "aria-label": `Text of ${path}` }),
    lineNumbers(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    highlightSelectionMatches(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    indentUnit.of(isPython ? "    " : "  "),
    keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
    languageOf(path),
    colors,
    look,
    markedLine,
    more,
  ];
  if (kept !== undefined) {
    const state = EditorState.fromJSON(kept, { extensions }, { history: historyField });
    if (textOf(state) === text) return state;
  }
  return EditorState.create({ doc: text, extensions });
}

/** What `editorState` can start with again. */
export const keptState = (state: EditorState): unknown => state.toJSON({ history: historyField });

export const textOf = (state: EditorState): string => state.sliceDoc();
