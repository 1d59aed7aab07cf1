import { Link } from "@tanstack/react-router";
import type { ServerStatusView } from "@towpath/core/deployment";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { RelativeTime } from "~/ui/time.tsx";

type Lost = NonNullable<NonNullable<ServerStatusView["live"]>["lost"]>;

/** When what is live, whose files are lost, is built again (RUN-8). */
export function LostFilesText({ lost: { nextTryAt } }: { readonly lost: Lost }) {
  if (nextTryAt === null) return <>Towpath builds the same commit again now, with the same versions.</>;
  return (
    <>
      Building it again failed; the next try is <RelativeTime time={nextTryAt} />. A push or a rebuild tries at once.
    </>
  );
}

/** That what is live can't be started, and what comes next. `buildId`: the newest build. */
export function LostFiles({
  projectKey,
  buildId,
  lost,
}: {
  readonly projectKey: ProjectKey;
  readonly buildId: string;
  readonly lost: Lost;
}) {
  return (
    <Callout
      tone="bad"
      title="The files of the live version were lost"
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
      It can't start. <LostFilesText lost={lost} />
    </Callout>
  );
}
