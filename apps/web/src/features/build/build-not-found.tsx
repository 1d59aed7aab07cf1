import { Link, useParams } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { buttonLook } from "~/ui/button.tsx";
import { EmptyState } from "~/ui/callout.tsx";

/** A build's address that names none of this project. */
export function BuildNotFound() {
  const { orgSlug, projectName } = useParams({ from: "/$orgSlug/$projectName" });
  return (
    <EmptyState
      icon={<SearchX aria-hidden />}
      title="No such build"
      actions={
        <Link to="/$orgSlug/$projectName/deployments" params={{ orgSlug, projectName }} className={buttonLook()}>
          All deployments
        </Link>
      }
    >
      This server has no build with this address. It may have been deleted with its branch.
    </EmptyState>
  );
}
