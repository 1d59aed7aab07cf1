import { expect, test } from "vitest";
import { HeldOutput } from "./held-output.ts";

const kibibyte = 1024;

test("RUN-5 output is held until it is kept, the newest 64 KiB of it, and given from any position", () => {
  const held = new HeldOutput();
  const text = (position: number) => {
    const from = held.from(position);
    return [from.position, from.data.toString()];
  };
  expect(text(0)).toEqual([0, ""]);
  for (const part of ["ab", "cde", "f"]) held.add(Buffer.from(part));
  expect([text(0), text(1), text(3), text(5), text(6)]).toEqual([
    [0, "abcdef"],
    [1, "bcdef"],
    [3, "def"],
    [5, "f"],
    [6, ""],
  ]);
  held.keep(3);
  held.keep(1);
  expect([text(0), held.kept, held.end]).toEqual([[3, "def"], 3, 6]);
  held.keep(6);
  expect(text(0)).toEqual([6, ""]);
  // Byte by byte, and more than is held.
  for (let at = 0; at < 1000; at++) held.add(Buffer.from("x"));
  expect(held.from(0)).toMatchObject({ position: 6, data: { length: 1000 } });
  held.add(Buffer.alloc(64 * kibibyte, "y"));
  expect(held.from(0)).toMatchObject({ position: 1006, data: { length: 64 * kibibyte } });
});
