import { leftOutLine, secretsLine } from "@towpath/core/sources/repository/left-out/schema";
import { dim, plain, print } from "../terminal/terminal.ts";

/** Prints the files that were not deployed in one line, and what to do about secrets among them. */
export function printLeftOut(leftOut: readonly string[], name: string): void {
  const line = leftOutLine(leftOut);
  if (line === null) return;
  print(plain(line));
  const secrets = secretsLine(leftOut);
  if (secrets !== null) print(dim(`${plain(secrets)} towpath env ${name} set KEY=VALUE`));
}
