import { useState } from "react";
import { Checkbox } from "~/ui/checkbox.tsx";
import { PackageFields } from "../package/package-fields.tsx";
import { usePackage } from "../package/use-package.ts";
import { ChangeForm, type ChangeProps, useChangeSource } from "./change-form.tsx";

/** To a package of the index, once the index has it. */
export function ChangeToPackage({
  projectKey,
  source,
  initial,
}: ChangeProps & { readonly initial: { readonly name: string; readonly version: string } }) {
  const chosen = usePackage(projectKey.orgSlug, initial);
  const [follows, setFollows] = useState(source.kind === "package" && source.follows);
  const form = useChangeSource(projectKey);
  const isFound = chosen.newest !== null && Object.values(chosen.problems).every((problem) => problem === null);
  const change = isFound ? { package: { name: chosen.name, version: chosen.version.trim() || null, follows } } : null;
  return (
    <ChangeForm source={source} change={change} form={form}>
      <PackageFields chosen={chosen} refused={{}} disabled={form.busy} />
      <Checkbox checked={follows} onChange={setFollows} disabled={form.busy}>
        <span className="font-medium">Deploy new versions</span>
        <span className="block text-xs text-muted">
          Towpath looks every hour. A version that doesn't start never replaces the one that's live.
        </span>
      </Checkbox>
    </ChangeForm>
  );
}
