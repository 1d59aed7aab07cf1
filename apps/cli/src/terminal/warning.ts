import type { BuildWarning } from "@towpath/core/build/contract";
import { bold, print, yellow } from "./terminal.ts";

/** Prints what is wrong with a server, and what to do. */
export function printWarning({ title, detail, remedy }: BuildWarning): void {
  print(`\n${yellow("!")} ${bold(`Warning: ${title}`)}\n  ${detail}\n  ${bold("What to do:")} ${remedy}`);
}
