import { leftOutLine, secretsLine } from "@towpath/core/repository/left-out/schema";
import { dim, plain, print } from "../terminal/terminal.ts";

/** Names in one line what of a directory was not deployed, and says what to do about its secrets. */
export function printLeftOut(leftOut: readonly string[], name: string): void {
  const line = leftOutLine(leftOut);
  if (line === null) return;
  print(plain(line));
  const secrets = secretsLine(leftOut);
  if (secrets !== null) print(dim(`${plain(secrets)} towpath env ${name} set KEY=VALUE`));
}
