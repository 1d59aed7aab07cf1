import type { SampleFile } from "@towpath/github";

const folder = "/python/samples/echo/";

// Read into the bundle when it is built: the running server needs no checkout beside it.
const files = import.meta.glob<string>("../../../../../python/samples/echo/**/*", {
  query: "?raw",
  import: "default",
  eager: true,
  exhaustive: true,
});

/** The sample repository of the quickstart (ONB-4): what is copied into the user's account. */
export function sampleFiles(): [SampleFile, ...SampleFile[]] {
  const [first, ...more] = Object.entries(files)
    .filter(([path]) => !/__pycache__|\.pyc$/.test(path))
    .map(([path, content]) => ({ path: path.slice(path.indexOf(folder) + folder.length), content }));
  if (!first) throw new Error("The build has no sample repository.");
  return [first, ...more];
}

export const sampleEntrypoint = "echo.py";
