import { useQueryClient } from "@tanstack/react-query";
import type { FormerNameView } from "@towpath/core/projects/project";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { formerNamesQuery, releaseName } from "~/features/shared/project-screen/settings.functions.ts";
import { AbsoluteDay } from "~/ui/absolute-time.tsx";
import { Ask, type Question } from "~/ui/ask.tsx";
import { Button } from "~/ui/button.tsx";

type FormerNameListProps = { readonly projectKey: ProjectKey; readonly names: readonly FormerNameView[] };

/** The list of `FormerNames`. */
export function FormerNameList({ projectKey, names }: FormerNameListProps) {
  const queryClient = useQueryClient();
  const [question, setQuestion] = useState<Question | null>(null);
  const ask = ({ name }: FormerNameView) =>
    setQuestion({
      title: `Release ${name}?`,
      description: "Clients that still use this address stop working at once, and anyone can take the name.",
      action: "Release name",
      danger: true,
      run: async () => {
        await releaseName({ data: { ...projectKey, name } });
        await queryClient.invalidateQueries(formerNamesQuery(projectKey));
      },
    });
  return (
    <div>
      <p className="mb-1.5 text-sm font-medium">Former names</p>
      <ul aria-label="Former names" className="divide-y rounded-md border">
        {names.map((each) => (
          <li key={each.name} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-sm">
            <code className="min-w-0 flex-1 basis-40 break-all">{each.name}</code>
            <span className="text-muted">
              works until <AbsoluteDay time={each.expiresAt} />
            </span>
            <Button size="sm" variant="danger-quiet" aria-label={`Release ${each.name}`} onClick={() => ask(each)}>
              Release
            </Button>
          </li>
        ))}
      </ul>
      <Ask question={question} onClose={() => setQuestion(null)} />
    </div>
  );
}
