import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { Variables } from "./use-variables.ts";
import { EnvironmentVariables } from "./variable-fields.tsx";

const variables = (...names: string[]): Variables => ({
  rows: names.map((keyName, id) => ({ id, keyName, secretValue: "" })),
  problems: [],
  filled: [],
  isValid: true,
  change: () => {},
  paste: () => 0,
  add: () => {},
  offer: () => {},
  remove: () => {},
  showAllProblems: () => {},
  clear: () => {},
});

test("ONB-12 variables that the repository names are offered until they have a row, with the files that name them", () => {
  const offered = ["a", "b", "c", "d"].map((file) => ({ name: `KEY_${file.toUpperCase()}`, file: `${file}.py` }));
  const html = renderToStaticMarkup(
    <EnvironmentVariables variables={variables("KEY_A")} offered={offered.slice(0, 3)} />,
  );
  expect(html).toContain("Named in b.py and c.py. Add those that the server needs:");
  expect(html).toMatch(/<button [^>]*title="b.py"[^>]*>KEY_B<\/button>/);
  expect(html).not.toMatch(/<button[^>]*>KEY_A</);
  const more = renderToStaticMarkup(<EnvironmentVariables variables={variables("")} offered={offered} />);
  expect(more).toContain("Named in a.py, b.py, and other files.");
  expect(renderToStaticMarkup(<EnvironmentVariables variables={variables("")} />)).not.toContain("Named in");
});
