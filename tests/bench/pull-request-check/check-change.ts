import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { chooseCalls, compareToolChoices, type OfferedTool, replayCalls } from "@towpath/replay";
import { type BenchChange, type BenchServer, changed } from "./bench-server.ts";
import type { PythonServer, PythonServers } from "./python-servers.ts";

/** What the check of one pull request found. `seconds`: with the preview's start. */
export interface Checked {
  readonly isDifferent: boolean;
  readonly isInconclusive: boolean;
  readonly findings: readonly string[];
  readonly seconds: number;
  readonly requests: number;
}

/** The code of a server as production runs it. */
export const codeOf = (server: BenchServer) => readFile(join(import.meta.dirname, `${server.name}.py`), "utf8");

const words = (text: string) => new Set(text.toLowerCase().match(/[a-z]{3,}/g) ?? []);

/**
 * Stands in for a model, and chooses by words only: the tool whose name and description share most words with the question,
 * and none where nothing is shared.
 */
function chooseByWords(question: string, tools: readonly OfferedTool[]): string | null {
  const asked = words(question);
  const scores = tools.map(({ name, description = "" }) => {
    const offered = words(`${name.replaceAll("_", " ")} ${description}`);
    return { name, score: [...asked].filter((word) => offered.has(word)).length };
  });
  const [best] = scores.toSorted((one, other) => other.score - one.score);
  return best === undefined || best.score === 0 ? null : best.name;
}

/** Starts the changed server as a preview and compares it with production. */
export async function checkChange(
  servers: PythonServers,
  server: BenchServer,
  production: PythonServer,
  change: BenchChange,
): Promise<Checked> {
  const begun = performance.now();
  const preview = await servers.start(changed(await codeOf(server), change));
  try {
    const candidates = server.calls.map(([tool, values], at) => ({ id: String(at), tool, arguments: values, at }));
    const { signal } = new AbortController();
    const report = await replayCalls({
      calls: chooseCalls(candidates, 50),
      production: (call, ended) => production.call(call, ended),
      preview: (call, ended) => preview.call(call, ended),
      budget: { calls: 50, seconds: 50 },
      signal,
    });
    const choices = await compareToolChoices({
      questions: server.questions,
      production: await production.listTools(),
      preview: await preview.listTools(),
      ask: async (question, tools) => ({ tool: chooseByWords(question, tools), arguments: null, tokens: 1 }),
      budget: { calls: 1000, seconds: 10, tokens: 1000 },
      signal,
    });
    const found = report.tools.flatMap(({ tool, differences }) =>
      differences.filter(({ counts }) => counts).map(({ text, was, is }) => `${tool}: ${text} (${was} → ${is})`),
    );
    const chosen = choices.questions.filter(({ state }) => state.startsWith("other-")).map(({ text }) => text);
    return {
      isDifferent: report.verdict === "different" || choices.verdict === "different",
      isInconclusive: report.verdict === "inconclusive",
      findings: [...found, ...chosen],
      seconds: (performance.now() - begun) / 1000,
      requests: report.requests,
    };
  } finally {
    await preview.stop();
  }
}
