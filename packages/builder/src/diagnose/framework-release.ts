import type { HarnessFailure } from "../failure.ts";

// Arguments that releases of mcp and FastMCP accepted and later ones refuse (`keyword_removed`).

const frameworkOf = ({ module }: HarnessFailure) => (module === "fastmcp" ? "fastmcp" : "mcp");

/** Major and minor number of the installed release that refuses an argument; the newest if unknown. */
function installedOf({ candidates: [, installed] }: HarnessFailure): readonly [number, number] {
  const [major = Infinity, minor = 0] = installed?.split(".").map(Number) ?? [];
  return [major, minor];
}

/** The last releases that accepted what the installed one refuses; null if there is no such limit. */
export function olderFramework(status: HarnessFailure): string | null {
  const [major] = installedOf(status);
  if (frameworkOf(status) === "fastmcp") return major > 2 ? "fastmcp<3" : null;
  return major > 1 ? "mcp<2" : null;
}

/** Until mcp 1.12 FastMCP took any argument. Those releases don't work with later releases of pydantic. */
export function needsEarlyMcp(status: HarnessFailure): boolean {
  const [major, minor] = installedOf(status);
  return status.code === "keyword_removed" && frameworkOf(status) === "mcp" && major === 1 && minor >= 12;
}

/** Requirements with which the argument is accepted; null if unknown. */
export function olderReleases(status: HarnessFailure): readonly string[] | null {
  if (needsEarlyMcp(status)) return ["mcp<1.12", "pydantic<2.12"];
  const older = olderFramework(status);
  return older === null ? null : [older];
}

export function keywordRemedy(status: HarnessFailure): string {
  const keyword = `\`${status.candidates[0] ?? "the argument"}\``;
  const older = olderFramework(status);
  const release = `the release of \`${frameworkOf(status)}\` that it was written for`;
  const known = older === null ? release : `\`${older}\``;
  const pin = needsEarlyMcp(status) ? `${release}, such as \`mcp<1.12\` with \`pydantic<2.12\`` : known;
  return `Remove ${keyword} from the call: here, address, path and log level are the platform's. Or require ${pin}.`;
}
