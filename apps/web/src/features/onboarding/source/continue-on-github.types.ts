import type { RepositorySourceView } from "@towpath/core/sources/source";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import type { continueOnGitHub } from "./source.functions.ts";

/** The form's values when it sent the person to GitHub, and the account that they authorized with. */
export type FromGitHub = {
  readonly account: number;
  readonly gitHubName: string;
  readonly visibility: Visibility;
  readonly signedInAs: string;
};
export type Visibility = "private" | "public";

export type MovedToGitHub = Extract<Awaited<ReturnType<typeof continueOnGitHub>>, { readonly kind: "moved" }>;

export type ContinueProps = {
  readonly projectKey: ProjectKey;
  readonly source: RepositorySourceView;
  /** Null: the person isn't returning from GitHub. */
  readonly back: FromGitHub | null;
  readonly onMoved: (moved: MovedToGitHub) => void;
};
