import { expect, test } from "vitest";
import { countsText } from "./production-card.tsx";

test("PRJ-2 the items that a server offers are counted", () => {
  expect(countsText({ tools: 4, resources: 1, templates: 0, prompts: 1 })).toBe("4 tools, 1 resource, 1 prompt");
  expect(countsText({ tools: 0, resources: 0, templates: 0, prompts: 0 })).toBe("no tools, resources or prompts");
});
