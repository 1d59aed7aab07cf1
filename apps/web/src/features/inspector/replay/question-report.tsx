import type { ReplayView } from "@towpath/core/delivery/replay/schema";
import { Badge } from "~/ui/badge.tsx";
import { formatCount } from "~/ui/figure.tsx";

type Report = NonNullable<ReplayView["questions"]>;
type Question = Report["questions"][number];

const badges = {
  "other-tool": ["warn", "Another tool"],
  "other-arguments": ["warn", "Other arguments"],
  unstable: ["neutral", "Not stable"],
  failed: ["neutral", "No answer"],
  "not-asked": ["neutral", "Not asked"],
  same: ["ok", "Same"],
} as const satisfies Record<Question["state"], readonly [string, string]>;

const rank = Object.keys(badges);

/** Which tools a model chose for the saved questions, with production's and with the preview's. */
export function QuestionReport({ report: { model, calls, tokens, questions } }: { readonly report: Report }) {
  return (
    <section aria-label="Questions to a model" className="flex min-w-0 flex-col gap-3 border-t pt-3">
      <div>
        <h3 className="font-medium">Questions to a model</h3>
        <p className="text-xs text-pretty text-muted">
          Which tool it chooses with production's tools, and with those of this preview. No tool was called.
          {model === null ? null : (
            <>
              {" "}
              {model} was called {calls === 1 ? "once" : `${formatCount(calls)} times`}, for {formatCount(tokens)}{" "}
              tokens.
            </>
          )}
        </p>
      </div>
      <ul className="flex min-w-0 flex-col gap-3">
        {questions
          .toSorted((one, other) => rank.indexOf(one.state) - rank.indexOf(other.state))
          .map((question) => (
            <Asked key={question.question} {...question} />
          ))}
      </ul>
    </section>
  );
}

function Asked({ question, state, text, production, preview }: Question) {
  const [tone, label] = badges[state];
  return (
    <li className="flex min-w-0 flex-col gap-2 rounded-lg border px-3 py-2">
      <p className="flex flex-wrap items-start gap-x-2 gap-y-1">
        <span className="min-w-0 flex-1 basis-48 break-words whitespace-pre-wrap">{question}</span>
        <Badge tone={tone}>{label}</Badge>
      </p>
      <p className="text-xs break-words text-muted">{text}</p>
      {production && preview ? (
        <div className="grid min-w-0 gap-3 sm:grid-cols-2">
          <Choice title="Production" choice={production} />
          <Choice title="Preview" choice={preview} />
        </div>
      ) : null}
    </li>
  );
}

function Choice({ title, choice }: { readonly title: string; readonly choice: NonNullable<Question["preview"]> }) {
  return (
    <div className="min-w-0">
      <h4 className="text-xs text-muted">{title}</h4>
      <pre className="rounded-md bg-sunken p-2 text-xs whitespace-pre-wrap break-all">
        {choice.tool === null ? "No tool" : `${choice.tool}(${choice.arguments ?? ""})`}
      </pre>
    </div>
  );
}
