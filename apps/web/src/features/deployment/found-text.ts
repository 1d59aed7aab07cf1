type Counts = { tools: number; resources: number; templates: number; prompts: number };

const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** "4 tools, 1 resource": what a server offers, without what it lacks. */
export function foundText(counts: Counts): string {
  const parts = [
    [counts.tools, "tool"],
    [counts.resources, "resource"],
    [counts.templates, "template"],
    [counts.prompts, "prompt"],
  ] as const;
  const present = parts.filter(([count]) => count > 0).map(([count, word]) => plural(count, word));
  return present.length > 0 ? present.join(", ") : "no tools, resources or prompts";
}
