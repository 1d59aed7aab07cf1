import type { InspectorSearch, InspectorTab } from "~/features/inspector/inspector/inspector-search.ts";

/** The kinds of things that a server offers. */

export type ItemKind = "tool" | "resource" | "template" | "prompt";

type KindText = {
  readonly title: string;
  /** Singular and plural. */
  readonly noun: string;
  readonly nouns: string;
  readonly tab: InspectorTab;
  readonly parameter: keyof InspectorSearch;
};

export const kindTexts: Readonly<Record<ItemKind, KindText>> = {
  tool: { title: "Tools", noun: "tool", nouns: "tools", tab: "tools", parameter: "tool" },
  resource: { title: "Resources", noun: "resource", nouns: "resources", tab: "resources", parameter: "resource" },
  template: {
    title: "Resource templates",
    noun: "resource template",
    nouns: "resource templates",
    tab: "templates",
    parameter: "template",
  },
  prompt: { title: "Prompts", noun: "prompt", nouns: "prompts", tab: "prompts", parameter: "prompt" },
};
