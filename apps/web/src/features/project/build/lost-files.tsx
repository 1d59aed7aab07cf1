import { Link } from "@tanstack/react-router";
import type { ServerStatusView } from "@towpath/core/delivery/deployment";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { RelativeTime } from "~/ui/time.tsx";

type Lost = NonNullable<NonNullable<ServerStatusView["live"]>["lost"]>;

/** When the live version, whose files are lost, will be rebuilt (RUN-8). */
export function LostFilesText({ lost: { nextTryAt } }: { readonly lost: Lost }) {
  if (nextTryAt === null) return <>Towpath builds the same commit again now, with the same versions.</>;
  return (
    <>
      Building it again failed; the next try is <RelativeTime time={nextTryAt} />. A push or a rebuild tries at once.
    </>
  );
}

type LostFilesProps = {
  readonly projectKey: ProjectKey;
  readonly buildId: string;
  readonly lost: Lost;
};

/** A warning that the live version can't start, and what happens next. `buildId`: the newest build. */
export function LostFiles({ projectKey, buildId, lost }: LostFilesProps) {
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
