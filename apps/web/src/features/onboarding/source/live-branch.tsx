import type { FollowedSourceView } from "@towpath/core/sources/source";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Failure } from "~/ui/callout.tsx";
import { SwitchField } from "~/ui/checkbox.tsx";
import { SelectField } from "~/ui/select.tsx";
import { updateSource } from "./source.functions.ts";
import { useSourceChange } from "./use-source-change.ts";

/** No branch of Git has this name (git-check-ref-format(1)). */
const defaultBranchValue = "*";

/** The branch that goes live, and whether others get previews. */
export function Followed({
  projectKey,
  source,
}: {
  readonly projectKey: ProjectKey;
  readonly source: FollowedSourceView;
}) {
  const { busy, failure, apply } = useSourceChange(projectKey);
  return (
    <div className="flex flex-col gap-4">
      <LiveBranch projectKey={projectKey} source={source} hint="Pushes to it go live." />
      <Failure>{failure}</Failure>
      <SwitchField
        id="source-previews"
        label="Previews of other branches"
        checked={source.previews}
        readOnly={busy}
        onChange={(next) => void apply(() => updateSource({ data: { ...projectKey, previews: next } }))}
      >
        A push to another branch gets a server with its own URL.
      </SwitchField>
    </div>
  );
}

type LiveBranchProps = {
  readonly projectKey: ProjectKey;
  readonly source: Pick<FollowedSourceView, "branch" | "branches" | "defaultBranch">;
  readonly hint: string;
};

/** The branch that goes live: the repository's default branch, or a chosen one. */
export function LiveBranch({ projectKey, source: { branch, branches, defaultBranch }, hint }: LiveBranchProps) {
  const { busy, failure, apply } = useSourceChange(projectKey);
  const chosen = branch ?? defaultBranch;
  const names = branches.includes(chosen) ? branches : [chosen, ...branches];
  return (
    <SelectField
      label="Branch"
      error={failure}
      hint={hint}
      className="sm:max-w-80"
      disabled={busy}
      value={branch ?? defaultBranchValue}
      onChange={(next) =>
        void apply(() => updateSource({ data: { ...projectKey, branch: next === defaultBranchValue ? null : next } }))
      }
      options={[
        {
          value: defaultBranchValue,
          label: branch === null ? `The repository's default (${defaultBranch})` : "The repository's default",
        },
        ...names.map((name) => ({ value: name, label: name })),
      ]}
    />
  );
}
