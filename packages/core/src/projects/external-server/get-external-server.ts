import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { requireExternalServer } from "./external-server.store.ts";
import { type ExternalServerView, externalServerView } from "./external-server.view.ts";

/**
 * Where an external server is and what it offers, without its credential (ORG-9).
 *
 * @throws TowpathError `not_found` for a project of another kind
 */
export async function getExternalServer(call: Call<ProjectScope>): Promise<ExternalServerView> {
  const { project } = await authorizeProject(call.ctx, "build.read", call.input);
  return externalServerView(await requireExternalServer(call.ctx.db, project.id));
}
