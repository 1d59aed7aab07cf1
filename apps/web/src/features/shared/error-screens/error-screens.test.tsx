import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";

// Only a build gives the style sheet a URL.
vi.mock("~/styles.css?url", () => ({ default: "/assets/styles.css" }));
// Test files share modules: another file may have loaded these with the real style sheet.
vi.resetModules();
const { DocumentError, UnmatchedRoute } = await import("./error-screens.tsx");

test("ERR-4 a failed document is replaced by one with styles, the error toggle and a link home", () => {
  const html = renderToStaticMarkup(<DocumentError error={new Error("boom")} reset={() => {}} />);
  expect(html).toMatch(/^<html lang="en"/);
  expect(html).toMatch(/<head>.*<link rel="stylesheet" href="\/assets\/styles.css".*<\/head>/);
  expect(html).toContain("Something went wrong!");
  expect(html).toMatch(/<button[^>]*aria-expanded="false"[^>]*>.*Show Error/);
  expect(html).toMatch(/<a href="\/"[^>]*>Return Home/);
  expect(html).not.toContain("boom");
});

test("ERR-4 an address that no route matches shows Not Found", () => {
  const html = renderToStaticMarkup(<UnmatchedRoute />);
  expect(html).toContain(">Not Found<");
  expect(html).toContain("The page you&#x27;re looking for doesn&#x27;t exist.");
});
