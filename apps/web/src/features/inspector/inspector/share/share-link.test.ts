import fc from "fast-check";
import { expect, test } from "vitest";
import { anyCharacter } from "../../../../../../../tests/any-character.ts";
import { argumentsIn, fragmentOf } from "./share-link.ts";

test("PRJ-4 arguments of any text survive a link", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: anyCharacter, maxLength: 20 }), fc.string({ unit: anyCharacter }), {
        maxKeys: 4,
      }),
      (args) => {
        const own = Object.fromEntries(Object.entries(args).filter(([name]) => name !== "__proto__"));
        const fragment = fragmentOf(own);
        expect(fragment).toMatch(/^args=[\w-]*$/);
        expect(argumentsIn(`#${fragment}`)).toEqual(own);
      },
    ),
  );
});

test("PRJ-4 a link is bounded, and what isn't arguments is none", () => {
  expect(fragmentOf({ text: "x".repeat(10_000) })).toBeNull();
  for (const fragment of [
    "",
    "#",
    "#other",
    "#args=",
    "#args=%%%",
    `#args=${btoa("[1]")}`,
    `#args=${"A".repeat(9_000)}`,
  ]) {
    expect([fragment.slice(0, 20), argumentsIn(fragment)]).toEqual([fragment.slice(0, 20), null]);
  }
});
