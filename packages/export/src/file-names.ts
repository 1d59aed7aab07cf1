/** Files and directories of an export, below its one directory. */
export const fileNames = {
  document: "towpath.json",
  /** Tools, resources and prompts. */
  surface: "surface.json",
  /** The exact versions that were installed. */
  requirements: "requirements.txt",
  readme: "README.md",
  dockerfile: "Dockerfile",
  dockerignore: ".dockerignore",
  /** The code of the exported version. */
  source: "source",
  /** What the build made of the server's own files, to be imported. */
  installed: "installed",
  /** The harness, and what starts it. */
  runner: "runner",
  /** The repository with its history. */
  history: "repository.bundle",
  /** SHA-256 of every file, for `sha256sum --check`. Written last: an export without it is not whole. */
  sums: "SHA256SUMS",
  /** Values of variables, a JSON object. Not among the sums: people write it. */
  variables: "variables.json",
} as const;

/** Where the values of an export's variables are: in its directory, or beside its archive. */
export const variablesFileOf = (path: string): string =>
  path.endsWith(".tar") ? `${path.slice(0, -".tar".length)}.${fileNames.variables}` : `${path}/${fileNames.variables}`;
