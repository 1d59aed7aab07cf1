import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { parse } from "../commands/parse.ts";
import { bold, CommandError, dim, green, output, print, step, yellow } from "../terminal/terminal.ts";
import { runChecks } from "./checks.ts";
import { gatherFacts } from "./facts.ts";
import { changeSettings, type Finding, mendAs } from "./finding.ts";

/** `towpath doctor`: looks at the machine and at what the instance is set to use, while it runs or not. Exit status 1: mend something. */
export async function doctor(args: string[]): Promise<number> {
  const { values } = parse("doctor", args);
  // As the processes of an instance, which trust the machine's authorities.
  setDefaultCACertificates([...getCACertificates("default"), ...getCACertificates("system")]);
  const findings = await step("Checking this machine and the settings", () => examine(values));
  const toMend = findings.filter(({ state }) => state === "mend");
  output({ ok: toMend.length === 0, findings }, () => printFindings(findings, toMend.length));
  return toMend.length === 0 ? 0 : 1;
}

async function examine(flags: Parameters<typeof gatherFacts>[0]): Promise<readonly Finding[]> {
  try {
    return await runChecks(await gatherFacts(flags, process.env));
  } catch (error) {
    // Without valid settings there is nothing to check.
    if (error instanceof CommandError) return [mendAs("settings", error.message, changeSettings)];
    throw error;
  }
}

const words = { ok: green("ok        "), mend: yellow("mend this "), "not-needed": dim("not needed") } as const;

function printFindings(findings: readonly Finding[], toMend: number): void {
  const width = Math.max(...findings.map(({ name }) => name.length)) + 2;
  for (const finding of findings) {
    const { name, state, detail } = finding;
    print(`${words[state]}  ${name.padEnd(width)}${state === "not-needed" ? dim(detail) : detail}`);
    if (state === "mend") print(`${" ".repeat(12)}${bold("What to do:")} ${finding.remedy}`);
  }
  const all = `${findings.length} checked`;
  print(toMend === 0 ? `\n${green("✓")} ${all}, nothing to mend.` : `\n${yellow("!")} ${all}, ${toMend} to mend.`);
}
