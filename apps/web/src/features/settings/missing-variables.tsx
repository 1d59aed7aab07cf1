import { Link } from "@tanstack/react-router";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { listedNames } from "./listed-names.ts";
import type { Missing } from "./use-missing-variables.ts";

/** Says which variables failed builds lack. */
export function MissingVariables({
  projectKey,
  missing,
}: {
  readonly projectKey: ProjectKey;
  readonly missing: readonly Missing[];
}) {
  return missing.map(({ branch, buildId, keyNames }) => (
    <Callout
      key={buildId}
      tone="bad"
      title={`The latest build of ${branch} failed: ${listedNames(keyNames)} ${keyNames.length === 1 ? "is" : "are"} missing`}
      actions={
        <Link
          to="/$orgSlug/$projectName/build-logs/$buildId"
          params={{ ...projectKey, buildId }}
          className={buttonLook({ size: "sm" })}
        >
          Open build
        </Link>
      }
    >
      Add {keyNames.length === 1 ? "it" : "them"} below, then rebuild.
    </Callout>
  ));
}
