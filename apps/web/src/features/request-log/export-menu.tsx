import type { LogSearch } from "@towpath/logs/schema";
import { logQueryFromFilters, periodOfSearch } from "@towpath/logs/search";
import { Download } from "lucide-react";
import { Button } from "~/ui/button.tsx";
import { Menu, MenuGroup, MenuItem } from "~/ui/menu.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";

/** Downloads what the filters show. */
export function ExportMenu({
  projectKey,
  search,
  showsProtocol,
}: {
  projectKey: ProjectKey;
  search: LogSearch;
  showsProtocol: boolean;
}) {
  const download = (format: string) => window.location.assign(exportHref(projectKey, search, showsProtocol, format));
  return (
    <Menu trigger={<Button icon={<Download aria-hidden />}>Export</Button>}>
      <MenuGroup label="The newest 10,000 matching rows">
        <MenuItem onClick={() => download("jsonl")}>JSON Lines</MenuItem>
        <MenuItem onClick={() => download("csv")}>CSV</MenuItem>
      </MenuGroup>
    </Menu>
  );
}

function exportHref(key: ProjectKey, search: LogSearch, showsProtocol: boolean, format: string): string {
  const { user, deployment } = search;
  const { startDate, endDate, timeRange } = periodOfSearch(search);
  const dates = { startDate: isoOf(startDate), endDate: isoOf(endDate), timeRange };
  const asked = { format, user, deployment, ...logQueryFromFilters(search, showsProtocol), ...dates };
  const parameters = Object.entries(asked).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const path = [key.orgSlug, key.projectName].map(encodeURIComponent).join("/");
  return `/api/projects/${path}/request-log?${new URLSearchParams(parameters)}`;
}

const isoOf = (date: unknown) => (date instanceof Date ? date.toISOString() : undefined);
