import type { z } from "zod";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, SourceServices } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { updateSourceSchema } from "./git-source.schema.ts";
import type { SourceView } from "./git-source.view.ts";
import { refused } from "./read-refs.ts";
import { sourceOf } from "./source.ts";
import { updateFollowedSource } from "./update-followed-source.ts";
import { updateGitHubSource } from "./update-github-source.ts";

type UpdateSourceInput = z.input<typeof updateSourceSchema>;

/**
 * Changes which branch goes live, whether others get previews, the credential, or where states of builds are posted
 * (SRC-1, SRC-2); what is left out stays. A new branch or credential is tried first, and nothing changes when the
 * repository refuses it. The repository is then asked at once. GitHub's repositories have the branch only.
 *
 * @throws TowpathError `invalid_input` by field for a branch that doesn't exist, a credential that is refused, and what the
 * kind of source doesn't have; `conflict` for a server that isn't built here, and for a credential or states of a
 * repository of this instance; errors of the host
 */
export async function updateSource(call: Call<ProjectScope & UpdateSourceInput, SourceServices>): Promise<SourceView> {
  const { ctx } = call;
  const { project: of, organization } = await authorizeProject(ctx, "project.update", call.input);
  const changes = parseInput(updateSourceSchema, call.input);
  const source = sourceOf(of);
  switch (source?.kind) {
    case "git":
      return updateFollowedSource(ctx, organization.id, of, changes);
    case "github":
      return updateGitHubSource(ctx, { project: of, source, changes });
    case "package":
      throw refused(
        Object.keys(changes)[0] ?? "branch",
        "A package has no branches, previews, credential or build states.",
      );
    default:
      throw new TowpathError("conflict", "Only a server that Towpath builds has a source. This one runs elsewhere.");
  }
}
