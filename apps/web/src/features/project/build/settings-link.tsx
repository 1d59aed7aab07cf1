import { Link } from "@tanstack/react-router";
import type { SettingsSection } from "@towpath/core/delivery/build/contract";
import { Settings } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { buttonLook } from "~/ui/button.tsx";

type SettingsLinkProps = {
  project: ProjectKey;
  section: SettingsSection;
  variant?: "primary" | "secondary";
};

export function SettingsLink({ project, section, variant = "secondary" }: SettingsLinkProps) {
  return (
    <Link to="/$orgSlug/$projectName/settings" params={project} hash={section} className={buttonLook({ variant })}>
      <Settings /> Open settings
    </Link>
  );
}
