import { commitChanges, listFiles, readFile, searchFiles } from "@towpath/core/sources/files";
import {
  commitChangesSchema,
  committedSchema,
  filesViewSchema,
  fileViewSchema,
  foundLinesSchema,
  listFilesSchema,
  readFileSchema,
  searchFilesSchema,
} from "@towpath/core/sources/files/schema";
import { type Operation, operation } from "~/http/rest/operation.server.ts";

/** Characters of a commit's files may take four bytes each, and be escaped. */
const maxBodyBytes = 12 * 1024 * 1024;

/** Files of a server's repository (CAP-5). */
export const codeOperations: readonly Operation[] = [
  operation("GET /projects/{name}/code", "listFiles", "build.start", {
    summary: "the files of a `branch` (default: the one that goes live) of a server's repository, and its branches",
    query: listFilesSchema,
    answer: filesViewSchema,
    handle: ({ ctx, project, query }) => listFiles({ ctx, input: { ...query, projectId: project.id } }),
  }),
  operation("GET /projects/{name}/code/file", "readFile", "build.start", {
    summary: "one of these files, by its `path`",
    query: readFileSchema,
    answer: fileViewSchema,
    handle: ({ ctx, project, query }) => readFile({ ctx, input: { ...query, projectId: project.id } }),
  }),
  operation("GET /projects/{name}/code/search", "searchFiles", "build.start", {
    summary: "lines of these files that contain a `text`, in any case",
    query: searchFilesSchema,
    answer: foundLinesSchema,
    handle: ({ ctx, project, query }) => searchFiles({ ctx, input: { ...query, projectId: project.id } }),
  }),
  operation("POST /projects/{name}/code/commits", "commitChanges", "build.start", {
    summary:
      "commits changed files on top of `sha`, to `branch` or a new one, in the name of who calls; refused where one of them was changed meanwhile. Not yet to GitHub, where commits need the person's own account",
    body: commitChangesSchema,
    maxBodyBytes,
    answer: committedSchema,
    handle: ({ ctx, project, body }) =>
      commitChanges({ ctx, input: { ...body, projectId: project.id, userToken: null } }),
  }),
];
