import type { BuildWarning } from "@towpath/core/delivery/build/contract";
import { bold, print, yellow } from "./terminal.ts";

/** Prints a server's problem, and what to do. */
export function printWarning({ title, detail, remedy }: BuildWarning): void {
  print(`\n${yellow("!")} ${bold(`Warning: ${title}`)}\n  ${detail}\n  ${bold("What to do:")} ${remedy}`);
}
