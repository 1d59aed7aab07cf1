import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { lineText } from "../deploy/follow-build.ts";
import { output, plain, print, printError, printJsonOnly } from "./terminal.ts";

let written = "";
beforeEach(() => {
  written = "";
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((text) => {
      written += text;
      return true;
    });
  }
});
afterEach(() => {
  printJsonOnly(false);
  vi.restoreAllMocks();
});

// A title, the clipboard, an erased screen, a line written over, the same as single characters of C1; reversed text.
const hostile = "a\u001b]0;owned\u0007\u001b]52;c;Y3VybA==\u0007\u001b[2J\u001b[8mb\rc\u009b2Jd\u202eexe.\u2066";
const steering = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

test("OPS-4 text quoted in a build, a diagnosis or a server's error never controls the terminal", () => {
  print(lineText({ line: 1, time: "", phase: "install", kind: "output", text: `${hostile}\n\tnext` }));
  printError(`Server error: ${hostile}`);
  expect(written).toContain("\n         \tnext\n");
  expect(written.replaceAll(/[\n\t]/g, "")).not.toMatch(steering);
  expect(plain(hostile)).not.toMatch(steering);
});

test("OPS-4 --json has the same value in characters that a terminal doesn't obey", () => {
  printJsonOnly(true);
  output({ text: hostile }, () => {});
  expect(JSON.parse(written)).toEqual({ text: hostile });
  expect(written.trimEnd()).not.toMatch(steering);
});
