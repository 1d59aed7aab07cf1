import { hmacSha256 } from "@towpath/crypto";
import { z } from "zod";
import { isGitHubError } from "./errors.ts";
import type { ForgeAdmin, ForgeAdminConfig } from "./forge-admin.contract.ts";
import { gitHubRepositorySchema, gitHubUserSchema } from "./github.schema.ts";
import { requestJson } from "./request.ts";

const pushTargetSchema = z
  .object({ repository: gitHubRepositorySchema, clone_url: z.string(), push_url: z.string() })
  .transform((target) => ({ repository: target.repository, cloneUrl: target.clone_url, pushUrl: target.push_url }));

const installationSchema = z.object({ installation_id: z.number().int() });

/** The credential of the forge's operator routes. Web and forge both hold the client secret, so no further setting is needed. */
export function forgeOperatorToken(clientSecret: string): string {
  return hmacSha256(clientSecret, "towpath forge operator");
}

/** Client of the local forge's operator routes (GH-3). Not for github.com, which has none. */
export function createForgeAdmin(config: ForgeAdminConfig): ForgeAdmin {
  const authorization = `Bearer ${forgeOperatorToken(config.clientSecret)}`;

  async function post<Schema extends z.ZodType>(path: string, body: unknown, schema: Schema): Promise<z.infer<Schema>> {
    const request = { method: "POST", url: `${config.url}/internal/${path}`, authorization, body } as const;
    return (await requestJson(request, schema)).value;
  }

  return {
    async available() {
      try {
        const request = { method: "GET", url: `${config.url}/internal/forge` } as const;
        await requestJson(request, z.object({ name: z.literal("towpath-forge") }));
        return true;
      } catch (error) {
        if (isGitHubError(error)) return false;
        throw error;
      }
    },
    ensureAccount: (input) => post("accounts", input, gitHubUserSchema),
    async ensureInstallation(input) {
      return { installationId: (await post("installations", input, installationSchema)).installation_id };
    },
    ensureRepository: (input) => post("repositories", input, pushTargetSchema),
  };
}
