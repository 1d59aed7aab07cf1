import { climbsOut } from "@towpath/core/sources/repository/left-out/schema";
import { Refusal, shown } from "./refusal.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the purpose
const controlCharacter = /[\u0000-\u001f\u007f]/;

/**
 * The parts of a path in an export.
 *
 * @throws Refusal for one that leads out of its directory or has characters that no name needs
 */
export function insideParts(path: string): readonly string[] {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (path.startsWith("/") || parts.includes("..") || path.includes("\\"))
    throw new Refusal(`The export has the path ${shown(path)}, which leads out of its directory. Nothing was done.`);
  if (controlCharacter.test(path))
    throw new Refusal(`The export has the path ${shown(path)}, with a control character. Nothing was done.`);
  return parts;
}

/** @throws Refusal for a link that leads out of the export, compared as text */
export function requireInsideLink(path: string, target: string): void {
  if (target === "" || target.startsWith("/") || controlCharacter.test(target) || climbsOut(path, target))
    throw leadsOut(path, target);
}

export const leadsOut = (path: string, target: string) =>
  new Refusal(`${shown(path)} in the export is a link to ${shown(target)}, out of its directory. Nothing was done.`);
