import { z } from "zod";
import { type Operation, operation } from "~/http/rest/operation.server.ts";
import { exportArchive, exportMediaType } from "./export-archive.server.ts";

export const exportOperation: Operation = operation("GET /projects/{name}/export", "exportServer", "secret.read", {
  summary:
    "what is live as a tar that runs without Towpath: code, exact versions, settings, names of variables, never their values; `towpath export` writes it, `towpath import` reads it",
  answer: z.instanceof(Response),
  mediaTypes: [exportMediaType],
  handle: ({ ctx, project }) => exportArchive(ctx, { projectId: project.id }),
});
