import type { BuildWarning } from "@towpath/core/delivery/build/contract";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { withWarnings } from "~/features/shared/project-screen/build-status.tsx";
import { BuildWarnings } from "./build-warnings.tsx";

const warning: BuildWarning = {
  code: "nothing_offered",
  title: "The server offers nothing",
  detail: "It answers MCP, but has no tools.",
  remedy: "Import them in `server.py`.",
};

test("BLD-6 UI-4 a warning has an icon, a text and a remedy", () => {
  const html = renderToStaticMarkup(<BuildWarnings warnings={[warning]} />);
  expect(html).toContain("<svg");
  for (const text of ["Warning:", warning.title, warning.detail, "What to do:", "<code"]) expect(html).toContain(text);
  expect(renderToStaticMarkup(<BuildWarnings warnings={[]} />)).toBe("");
});

test("BLD-6 a heading counts the warnings", () => {
  expect(withWarnings(0)).toBe("");
  expect(withWarnings(1)).toBe(", with a warning");
  expect(withWarnings(2)).toBe(", with 2 warnings");
});
