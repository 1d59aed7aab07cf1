// Reads the tables of metrics in docs/observability.md, and the metrics that a process exports.
import { readFileSync } from "node:fs";

const page = readFileSync(new URL("observability.md", import.meta.url), "utf8");

export type Metric = { readonly name: string; readonly type: string; readonly labels: readonly string[] };

const quoted = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);

/** The metrics below a heading: `Every process`, or the name of a role. */
export function documentedMetrics(heading: string): readonly Metric[] {
  const begin = page.indexOf(`\n### ${heading}\n`);
  if (begin < 0) throw new Error(`docs/observability.md has no heading ${heading}.`);
  const [section = ""] = page.slice(begin + 5).split(/\n##/, 1);
  return [...section.matchAll(/^\| (`[^|]+) \| (\w+) \|([^|]*)\|/gm)].flatMap(
    ([, names = "", type = "", labels = ""]) =>
      quoted(names).map((name) => ({ name, type, labels: quoted(labels).toSorted() })),
  );
}

const withoutSuffix = (sample: string) => sample.replace(/_(?:bucket|count|sum)$/, "");

/** What is exported in the text format: the labels are those of the samples, so none without a sample. */
export function exportedMetrics(text: string): readonly Metric[] {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
  const labels = new Map([...types.keys()].map((name) => [name, new Set<string>()]));
  for (const [, sample = "", all = ""] of text.matchAll(/^([a-z_]+\w*)(?:\{([^}]*)\})? /gm)) {
    const name = types.has(sample) ? sample : withoutSuffix(sample);
    for (const [, label = ""] of all.matchAll(/(\w+)="/g)) if (label !== "le") labels.get(name)?.add(label);
  }
  return [...types].map(([name, type]) => ({ name, type, labels: [...(labels.get(name) ?? [])].toSorted() }));
}

/** Names of metrics in queries, without the suffixes of histograms. */
export function metricsIn(queries: string): ReadonlySet<string> {
  const names = queries.match(/\b(?:towpath|process|nodejs)_\w+/g) ?? [];
  return new Set(names.map((name) => withoutSuffix(name)));
}
