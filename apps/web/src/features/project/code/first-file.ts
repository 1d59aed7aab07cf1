/** What is shown before a file is chosen: the server's own, or the text about it. */
export function firstFile(
  paths: readonly string[],
  { entrypoint, rootDirectory }: { readonly entrypoint: string; readonly rootDirectory?: string | null },
): string | undefined {
  const [file = ""] = entrypoint.split(":");
  const candidates = [[rootDirectory, file].filter(Boolean).join("/"), "server.py", "README.md"];
  return candidates.find((path) => paths.includes(path));
}
