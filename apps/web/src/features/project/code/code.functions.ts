import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { listFiles, readFile, searchFiles } from "@towpath/core/sources/files";
import {
  commitChangesSchema,
  type FilesView,
  type FileView,
  type FoundLines,
  listFilesSchema,
  readFileSchema,
  searchFilesSchema,
} from "@towpath/core/sources/files/schema";
import { z } from "zod";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { commitFromPage } from "./commit.server.ts";
import { type FixedFile, proposeFix } from "./fix.server.ts";

const atSchema = readFileSchema.pick({ branch: true, sha: true });

/** Files of a branch, by default the one that goes live (CAP-5). */
export const getFiles = createServerFn({ method: "GET" })
  .middleware([projectAccess("build.start")])
  .validator(input(projectKeySchema.extend(listFilesSchema.shape)))
  .handler(({ context, data }) => listFiles({ ctx: context.ctx, input: data }));

const getFile = createServerFn({ method: "GET" })
  .middleware([projectAccess("build.start")])
  .validator(input(projectKeySchema.extend(readFileSchema.shape)))
  .handler(({ context, data }) => readFile({ ctx: context.ctx, input: data }));

const findInFiles = createServerFn({ method: "GET" })
  .middleware([projectAccess("build.start")])
  .validator(input(projectKeySchema.extend(searchFilesSchema.shape)))
  .handler(({ context, data }) => searchFiles({ ctx: context.ctx, input: data }));

/** Commits changed files in the name of who is signed in, or says where to go first. */
export const commitCode = createServerFn({ method: "POST" })
  .middleware([projectAccess("build.start")])
  .validator(input(projectKeySchema.extend(commitChangesSchema.shape)))
  .handler(({ context, data }) => {
    const { orgSlug: _org, projectName: _project, ...changes } = data;
    const { signedIn, ctx, project, organization } = context;
    return commitFromPage({ signedIn, ctx, project, organization, input: changes });
  });

/** The change that ends the failure of a build, made in files of a commit. */
const getFix = createServerFn({ method: "GET" })
  .middleware([projectAccess("build.start")])
  .validator(input(projectKeySchema.extend(atSchema.shape).extend({ buildId: z.uuid() })))
  .handler(({ context, data }) => proposeFix({ ctx: context.ctx, project: context.project, input: data }));

/** A commit, and the branch that had it. */
export type At = { readonly branch: string; readonly sha: string };

const key = ({ orgSlug, projectName }: ProjectKey) => ["code", orgSlug, projectName] as const;

/**
 * The files of a branch. Never fetched again while they are shown: what a person edits is compared with newer commits
 * first (`useDraft`), and a branch that is gone must not close the page.
 */
export const filesQuery = (of: ProjectKey, branch: string | undefined) =>
  queryOptions({
    queryKey: [...key(of), "files", branch ?? null],
    queryFn: ({ signal }): Promise<FilesView> => getFiles({ data: { ...of, branch }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10_000,
  });

/** One file of a commit, which never changes. */
export const fileQuery = (of: ProjectKey, at: At, path: string) =>
  queryOptions({
    queryKey: [...key(of), "file", at.sha, path],
    queryFn: ({ signal }): Promise<FileView> => getFile({ data: { ...of, ...at, path }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const foundLinesQuery = (of: ProjectKey, at: At, text: string) =>
  queryOptions({
    queryKey: [...key(of), "found", at.sha, text],
    queryFn: ({ signal }): Promise<FoundLines> => findInFiles({ data: { ...of, ...at, text }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

/** The files that fix a failed build; see `proposeFix`. */
export const fixQuery = (of: ProjectKey, at: At, buildId: string) =>
  queryOptions({
    queryKey: [...key(of), "fix", at.sha, buildId],
    queryFn: ({ signal }): Promise<readonly FixedFile[]> => getFix({ data: { ...of, ...at, buildId }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
