import { z } from "zod";

const text = (max: number) => z.coerce.string().max(max).optional().catch(undefined);

/** The deploy fields that travel in the address (ONB-5). Anything faulty is dropped, the form asks for it again. */
export const deploySearchSchema = z.object({
  serverName: text(64),
  defaultBranch: text(255),
  teamId: text(64),
  entrypoint: text(200),
  requirements: text(200),
  envVariables: z.array(z.string().max(4096)).max(100).optional().catch(undefined),
  shouldUseAuth: z.boolean().optional().catch(undefined),
  repoName: text(255),
  owner: text(100),
  repo: text(100),
  isPrivate: z.boolean().optional().catch(undefined),
  installationId: z.number().int().positive().optional().catch(undefined),
});
export type DeploySearch = z.infer<typeof deploySearchSchema>;

/** The same for server-setup, which also carries how a quickstart is going (ONB-3). */
export const setupSearchSchema = deploySearchSchema.extend({
  isCreating: z.boolean().optional().catch(undefined),
  error: text(500),
});
