import { addDomain, checkDomain, listDomains, removeDomain } from "@towpath/core/projects/domain";
import { domainSchema } from "@towpath/core/projects/domain/schema";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";

/** Domains of their own of servers and portals (OPS-12). */
export const domainOperations: readonly Operation[] = [
  operation("GET /projects/{name}/domains", "listDomains", "project.read", {
    summary:
      "its own domains ([https.md](https.md#domains-of-servers)), with their DNS records and when those were seen",
    answer: answers.domains,
    handle: async ({ ctx, project }) => ({ data: await listDomains({ ctx, input: { projectId: project.id } }) }),
  }),
  operation("POST /projects/{name}/domains", "addDomain", "project.update", {
    summary: "asks for a `domain`, which leads to the server once its records were seen",
    body: domainSchema,
    answer: answers.domain,
    handle: ({ ctx, project, body }) => addDomain({ ctx, input: { ...body, projectId: project.id } }),
  }),
  operation("POST /projects/{name}/domains/{domain}/check", "checkDomain", "project.update", {
    summary: "looks up its records now",
    answer: answers.domain,
    handle: ({ ctx, project, params }) => checkDomain({ ctx, input: { domain: params.domain, projectId: project.id } }),
  }),
  operation("DELETE /projects/{name}/domains/{domain}", "removeDomain", "project.update", {
    summary: "removes it",
    answer: answers.removedDomain,
    handle: async ({ ctx, project, params }) => {
      await removeDomain({ ctx, input: { domain: params.domain, projectId: project.id } });
      return { domain: params.domain };
    },
  }),
];
