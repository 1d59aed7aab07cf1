import { SearchX } from "lucide-react";
import { EmptyState } from "~/ui/empty-state.tsx";

/** A build's address that names none of this project. */
export function BuildNotFound() {
  return (
    <EmptyState icon={<SearchX aria-hidden />} title="No such build">
      This project has no build with this address. It may have been deleted with its branch.
    </EmptyState>
  );
}
