import type { Manifest } from "./manifest.ts";

// Approximate tokens of what a model reads: one for every four characters of the JSON. Models count differently; use the
// numbers for proportions.
const tokensOf = (listed: unknown): number => Math.ceil(JSON.stringify(listed).length / 4);

type Tool = Manifest["tools"][number];
type Item = Tool | Manifest["resources"][number] | Manifest["templates"][number] | Manifest["prompts"][number];

/** Of the server's list of tools. */
export const toolListTokens = ({ tools }: Pick<Manifest, "tools">): number =>
  tools.length === 0 ? 0 : tokensOf(tools.map(listed));

/** Of one item in its list. */
export const itemTokens = (item: Item): number => tokensOf(listed(item));

/** An item as its list sends it. Clients keep icons from models. */
function listed(item: Item): Readonly<Record<string, unknown>> {
  const { icons: _icons, ...sent } = item;
  const named = Object.entries(sent).filter(([, value]) => value !== null);
  return Object.fromEntries(named.map(([key, value]) => [key.endsWith("_name") ? "name" : key, value]));
}
