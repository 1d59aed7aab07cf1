import type { ServerStatusView } from "@towpath/core/deployment";
import { RelativeTime } from "~/ui/time.tsx";

type Lost = NonNullable<NonNullable<ServerStatusView["live"]>["lost"]>;

/** When what is live, whose files are lost, is built again (RUN-8). */
export function LostNote({ lost: { nextTryAt } }: { readonly lost: Lost }) {
  if (nextTryAt === null) return <>Towpath builds the same commit again now, with the same versions.</>;
  return (
    <>
      Building it again failed; the next try is <RelativeTime time={nextTryAt} />. A push or a rebuild tries at once.
    </>
  );
}
