import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { parse } from "../commands/parse.ts";
import { bold, CommandError, dim, green, output, print, step, yellow } from "../terminal/terminal.ts";
import { runChecks } from "./checks.ts";
import { gatherFacts } from "./facts.ts";
import { changeSettings, type Finding, fixAs } from "./finding.ts";

/** `towpath doctor`: looks at the machine and at what the instance is set to use, while it runs or not. Exit status 1: fix something. */
export async function doctor(args: string[]): Promise<number> {
  const { values } = parse("doctor", args);
  // As the processes of an instance, which trust the machine's authorities.
  setDefaultCACertificates([...getCACertificates("default"), ...getCACertificates("system")]);
  const findings = await step("Checking this machine and the settings", () => examine(values));
  const toFix = findings.filter(({ state }) => state === "fix");
  output({ ok: toFix.length === 0, findings }, () => printFindings(findings, toFix.length));
  return toFix.length === 0 ? 0 : 1;
}

async function examine(flags: Parameters<typeof gatherFacts>[0]): Promise<readonly Finding[]> {
  try {
    return await runChecks(await gatherFacts(flags, process.env));
  } catch (error) {
    // Without valid settings there is nothing to check.
    if (error instanceof CommandError) return [fixAs("settings", error.message, changeSettings)];
    throw error;
  }
}

const words = { ok: green("ok        "), fix: yellow("fix this  "), "not-needed": dim("not needed") } as const;

function printFindings(findings: readonly Finding[], toFix: number): void {
  const width = Math.max(...findings.map(({ name }) => name.length)) + 2;
  for (const finding of findings) {
    const { name, state, detail } = finding;
    print(`${words[state]}  ${name.padEnd(width)}${state === "not-needed" ? dim(detail) : detail}`);
    if (state === "fix") print(`${" ".repeat(12)}${bold("What to do:")} ${finding.remedy}`);
  }
  const all = `${findings.length} checked`;
  print(toFix === 0 ? `\n${green("✓")} ${all}, nothing to fix.` : `\n${yellow("!")} ${all}, ${toFix} to fix.`);
}
