import { Link, useParams } from "@tanstack/react-router";
import { PageNotFound } from "~/features/shared/error-screens/page-error.tsx";
import { buttonLook } from "~/ui/button.tsx";

/** Shown for a build id that this project doesn't have. */
export function BuildNotFound() {
  const params = useParams({ from: "/$orgSlug/$projectName" });
  return (
    <PageNotFound
      reason="Build not found: this server has no build with this id. It may have been deleted with its branch."
      actions={
        <Link to="/$orgSlug/$projectName/deployments" params={params} className={buttonLook()}>
          All deployments
        </Link>
      }
    />
  );
}
