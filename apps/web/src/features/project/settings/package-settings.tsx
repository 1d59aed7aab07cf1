import { PackageFields } from "~/features/onboarding/package/package-fields.tsx";
import { usePackage } from "~/features/onboarding/package/use-package.ts";
import { BuildNewestButton } from "~/features/project/build/redeploy-button.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { SwitchField } from "~/ui/checkbox.tsx";
import { SettingCard } from "./setting-card.tsx";
import { useProjectSwitch } from "./use-project-switch.ts";

type PackageSettingsProps = {
  readonly projectKey: ProjectKey;
  readonly name: string;
};

/** A server's package: deploys another version, and whether newer ones are deployed automatically (BLD-17). */
export function PackageSettings({ projectKey, name }: PackageSettingsProps) {
  const chosen = usePackage(projectKey.orgSlug, { name, version: "" });
  const {
    value: follows,
    failure,
    change,
  } = useProjectSwitch<boolean>(projectKey, "followsPackage", {
    get: ({ package: of }) => of?.follows === true,
    set: (project, is) => ({ ...project, package: project.package && { ...project.package, follows: is } }),
  });
  const version = chosen.problems.version === null ? chosen.version.trim() : "";
  return (
    <SettingCard
      id="package"
      title="Package"
      description="The version that's live stays until you deploy another one."
      failure={failure}
      status={follows ? "New versions are deployed." : "New versions are not deployed."}
    >
      <PackageFields chosen={chosen} refused={{}} isFixed />
      <div>
        <BuildNewestButton
          project={projectKey}
          {...(version !== "" && { version })}
          label={version === "" ? "Deploy newest version" : `Deploy ${version}`}
        />
      </div>
      <SwitchField
        id="follow-package"
        label="Deploy new versions"
        checked={follows}
        onChange={(next) => change(() => next)}
      >
        <p className="mt-1">
          Towpath looks every hour. A version that doesn't start never replaces the one that's live.
        </p>
      </SwitchField>
    </SettingCard>
  );
}
