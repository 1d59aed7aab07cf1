import { vi } from "vitest";

export type Printed = { text: string };

/** Collects what a command prints on stdout, until `vi.restoreAllMocks`. */
export function collectPrinted(): Printed {
  const printed = { text: "" };
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    printed.text += String(chunk);
    return true;
  });
  return printed;
}
