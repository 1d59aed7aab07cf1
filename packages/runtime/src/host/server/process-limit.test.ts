import { expect, test } from "vitest";
import { StuckFinder } from "./process-limit.ts";

const limit = 256;
const look = (finder: StuckFinder, seconds: number, used: number, refused: number) =>
  finder.look({ used, limit, refused }, seconds * 1000);

test("RUN-1 a server that keeps starting processes at its limit is stuck after ten seconds, one that stops is not", () => {
  const finder = new StuckFinder();
  expect(look(finder, 0, 3, 0)).toBe("fine");
  for (let at = 2; at <= 10; at += 2) expect(look(finder, at, 256, at * 1000)).toBe("pressed");
  expect(look(finder, 12, 250, 12_000)).toBe("stuck");

  const pausing = new StuckFinder();
  for (let at = 0; at <= 40; at += 2) expect(look(pausing, at, 256, Math.floor(at / 8) * 1000)).toBe("pressed");
  expect(look(pausing, 42, 3, 5000)).toBe("fine");
});

test("RUN-1 a few refusals, as of a pool that is too large, end nothing while the server answers", () => {
  const finder = new StuckFinder();
  for (let at = 0; at <= 60; at += 2) {
    expect(look(finder, at, 256, at)).toBe("pressed");
    finder.asked(at * 1000);
    expect(finder.isUnanswered((at + 1) * 1000)).toBe(false);
    finder.answered();
  }
});

test("RUN-1 a server at its limit that answers nothing is stuck after ten seconds, also without a further refusal", () => {
  const finder = new StuckFinder();
  expect(look(finder, 0, 256, 1)).toBe("pressed");
  finder.asked(0);
  expect(look(finder, 8, 256, 1)).toBe("pressed");
  expect(finder.isUnanswered(8000)).toBe(false);
  expect(finder.isUnanswered(10_000)).toBe(true);
  // Frozen meanwhile: it could not answer.
  finder.reset();
  expect(finder.isUnanswered(60_000)).toBe(false);
});
