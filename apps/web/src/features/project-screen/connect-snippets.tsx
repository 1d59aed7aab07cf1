import { useState } from "react";
import { CodeBlock } from "~/ui/code-block.tsx";
import { TabPanel, Tabs } from "~/ui/tabs.tsx";
import type { ConnectCommand } from "./connect-commands.ts";

/** How to connect each client, a tab for each: where to put what. The first is open. */
export function ConnectSnippets({ commands }: { commands: readonly ConnectCommand[] }) {
  const [chosen, setChosen] = useState<string | undefined>(commands[0]?.id);
  return (
    <Tabs
      label="Client"
      value={chosen ?? ""}
      onChange={setChosen}
      tabs={commands.map(({ id, label }) => ({ value: id, label }))}
    >
      {commands.map(({ id, label, place, code }) => (
        <TabPanel key={id} value={id} className="pt-3">
          <p className="mb-2 text-sm text-muted">{place}</p>
          <CodeBlock code={code} label={`${label} snippet`} wrap />
        </TabPanel>
      ))}
    </Tabs>
  );
}
