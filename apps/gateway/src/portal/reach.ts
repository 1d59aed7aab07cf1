import type { Admitted } from "../call/states.ts";
import type { TaskMember } from "../read-model/kept-calls.ts";
import type { Route } from "../read-model/routes.ts";
import type { RouteTable } from "../route/route-table.ts";
import { parsePortalMessage } from "./portal-request.ts";
import { shownTo, shownTool, targetOf } from "./portal-targets.ts";
import type { Portals } from "./portals.ts";

/** What a caller reaches through a portal, for calls that are kept and for tasks. */
export type PortalReach = {
  /** The server that a call of a tool is for, with its settings; null: there is none, or the call goes elsewhere. */
  memberOf: (admitted: Admitted) => Promise<{ readonly route: Route; readonly member: TaskMember } | null>;
  /** Whether the caller may still call a tool of a server. Who may not has lost access to its tasks, too. */
  reaches: (admitted: Admitted) => Promise<(member: TaskMember) => boolean>;
};

export function createPortalReach({ portals, routes }: { portals: Portals; routes: RouteTable }): PortalReach {
  const viewOf = async (admitted: Admitted) => {
    const { target } = admitted.call.route;
    const portal = target.kind === "portal" ? await portals.find(target.portalId) : null;
    return portal && { portal, isShown: shownTo({ routes, admitted, portal }) };
  };
  return {
    async memberOf(admitted) {
      const view = await viewOf(admitted);
      const message = parsePortalMessage(admitted.body);
      if (!view || message.kind !== "request" || message.method !== "tools/call") return null;
      const found = targetOf({ ...view, openTask: null }, message);
      const label = view.portal.members.find(({ projectId }) => projectId === found?.projectId)?.label;
      const route = label === undefined ? undefined : routes.find(label);
      return found && route ? { route, member: { projectId: found.projectId, tool: found.name } } : null;
    },
    async reaches(admitted) {
      const view = await viewOf(admitted);
      return (member) => view !== null && shownTool(view, member) !== null;
    },
  };
}
