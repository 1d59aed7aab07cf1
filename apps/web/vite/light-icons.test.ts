import { expect, test } from "vitest";
import { lightIcon } from "./light-icons.ts";

const call = (...node: Parameters<typeof lightIcon>[0]) => /icon\((.*)\);$/m.exec(lightIcon(node))?.[1];

test("CAP-7 an icon's paths are one, each from the origin, and other shapes stay", () => {
  expect(call(["path", { d: "M5 12h14", key: "a" }], ["path", { d: "M12 5v14", key: "b" }])).toBe('"M5 12h14M12 5v14"');
  // Numbers after a first relative move are lines.
  expect(call(["path", { d: "m21 21-4.34-4.34" }], ["path", { d: "m.5.5h1" }])).toBe('"M21 21l-4.34-4.34M.5 .5h1"');
  expect(call(["path", { d: "M4 4" }], ["circle", { cx: "11", cy: "11", r: "8", key: "c" }])).toBe(
    '"M4 4", [["circle",{"cx":"11","cy":"11","r":"8"}]]',
  );
  expect(call(["path", { d: "M4 4", fill: "none" }])).toBe('"", [["path",{"d":"M4 4","fill":"none"}]]');
});
