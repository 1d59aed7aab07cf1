import { expect, test } from "vitest";
import { foundText } from "./production-card.tsx";

test("what a server offers is counted in words", () => {
  expect(foundText({ tools: 4, resources: 1, templates: 0, prompts: 1 })).toBe("4 tools, 1 resource, 1 prompt");
  expect(foundText({ tools: 0, resources: 0, templates: 0, prompts: 0 })).toBe("no tools, resources or prompts");
});
