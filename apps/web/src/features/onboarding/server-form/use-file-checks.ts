import { useQuery } from "@tanstack/react-query";
import { shortCommit } from "@towpath/core/delivery/build/version/schema";
import { entrypointProblem, requirementsProblem, rootDirectoryProblem } from "@towpath/core/projects/project/schema";
import { verifyFileExists } from "~/features/organization/github/github.functions.ts";
import { useSettled } from "~/ui/use-settled.ts";
import type { DeployAddress } from "./deploy-search.ts";

export type Missing = { readonly entrypoint: string | null; readonly requirements: string | null };
type Files = { readonly entrypoint: string; readonly requirements: string; readonly rootDirectory: string };
type Source = {
  readonly orgSlug: string;
  readonly address: DeployAddress;
  readonly branchName: string;
  /** Null before the first push: then there is nothing to check. */
  readonly commitSha: string | null;
};

/** Pause in typing before a path is looked up, milliseconds. */
const typingMs = 400;

/** `./servers/one/` → `servers/one/`; empty for the repository's root. */
const prefixOf = (root: string): string => {
  const path = root
    .trim()
    .replace(/^(?:\.\/)+/, "")
    .replace(/(?<!\/)\/+$/, "");
  return path === "" || path === "." ? "" : `${path}/`;
};

/** Paths below the root directory, relative to it. */
const pathsWithin = (root: string, paths: readonly string[]): readonly string[] => {
  const prefix = prefixOf(root);
  return paths.flatMap((path) => (path.startsWith(prefix) ? [path.slice(prefix.length)] : []));
};

type Offers = {
  readonly entrypoints: readonly string[];
  /** Directories with their own project, and possible entrypoints relative to each. */
  readonly projects: readonly { readonly directory: string; readonly entrypoints: readonly string[] }[];
  readonly requirementFiles: readonly string[];
};

/** Candidates for the build fields in the chosen root directory. */
export const offersWithin = (root: string, { entrypoints, projects, requirementFiles }: Offers) => ({
  entrypoints: projects.find(({ directory }) => directory === root)?.entrypoints ?? pathsWithin(root, entrypoints),
  rootDirectories: projects.map(({ directory }) => directory),
  requirementFiles: pathsWithin(root, requirementFiles),
});

/** The problem of a root directory that leaves several servers of a repository to choose from; null for none. */
export function rootProblem(
  { entrypoints, projects }: Pick<Offers, "entrypoints" | "projects">,
  { rootDirectory, entrypoint }: Pick<Files, "rootDirectory" | "entrypoint">,
): string | null {
  const isClear = rootDirectory.trim() !== "" || entrypoint.trim() !== "" || entrypoints.length > 0;
  if (isClear || projects.length < 2) return null;
  return `This repository has ${projects.length} servers. Choose one here; each of the others can be a server of its own.`;
}

/** Looks up the form's files in the repository while the user fills it in; a text for each that is missing. */
export function useFileChecks(source: Source, files: Files): Missing {
  const root = rootDirectoryProblem(files.rootDirectory) === null ? prefixOf(files.rootDirectory) : null;
  const within = (path: string) => (root === null || path === "" ? "" : root + path);
  const [file = ""] = entrypointProblem(files.entrypoint) === null ? files.entrypoint.split(":", 1) : [];
  // A console script or a module is no file: the build looks for it.
  const entrypoint = file.endsWith(".py") || file.includes("/") ? file : "";
  const requirements = requirementsProblem(files.requirements) === null ? files.requirements : "";
  return {
    entrypoint: useMissingFile(source, within(entrypoint)),
    requirements: useMissingFile(source, within(requirements)),
  };
}

/** `path`: empty for none. */
function useMissingFile({ orgSlug, address, branchName, commitSha }: Source, path: string): string | null {
  const settled = useSettled(path, typingMs);
  const { installationId, owner, repo: name } = address;
  const { data } = useQuery({
    queryKey: ["file-exists", orgSlug, address, commitSha, settled],
    queryFn: ({ signal }) =>
      verifyFileExists({
        data: { orgSlug, installationId, owner, name, path: settled, ref: commitSha ?? branchName },
        signal,
      }),
    enabled: commitSha !== null && settled !== "" && settled === path,
    staleTime: 60_000,
    retry: false,
  });
  if (settled !== path || data?.exists !== false) return null;
  return `There is no \`${path}\` in ${owner}/${name} at ${branchName} (${shortCommit(commitSha ?? "")}).`;
}
