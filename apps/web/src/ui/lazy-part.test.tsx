import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { lazyPart, partsLoaded } from "./lazy-part.tsx";

test("CAP-7 a server that has just started renders the parts of a page in their place, not after it", async () => {
  const Part = lazyPart(
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return () => <p>The part</p>;
    },
    <p>Loading</p>,
  );
  expect(renderToString(<Part />)).toContain("Loading");
  await partsLoaded();
  const page = renderToString(<Part />);
  expect(page).toContain("The part");
  expect(page).not.toContain("Loading");
});
