import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CheckQuestions } from "@towpath/core/projects/project/check-questions/schema";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Callout } from "~/ui/callout.tsx";
import { SwitchField } from "~/ui/checkbox.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { NumberChoice } from "./number-choice.tsx";
import { QuestionList } from "./question-list.tsx";
import { SettingCard } from "./setting-card.tsx";
import { useProjectSwitch } from "./use-project-switch.ts";

/** Questions that a model is asked with the tools of production and of a preview (CAP-4). */
export function QuestionSettings({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { questionModel, replay } = project;
  const { value: questions, busy, failure, change } = useProjectSwitch(projectKey, "checkQuestions");
  const { isOn, texts } = questions;
  const set = (changes: Partial<CheckQuestions>) => change((now) => ({ ...now, ...changes }));
  return (
    <SettingCard
      id="questions"
      title="Ask a model on pull requests"
      description="Descriptions of tools lead models. The check of a preview asks a model your questions, with production's tools and with the preview's, and says which choices changed."
      failure={failure}
      status={isOn ? "A model is asked saved questions." : "No model is asked."}
    >
      <SwitchField
        id="questions-switch"
        label="Ask a model saved questions"
        checked={isOn}
        onChange={(next) => void set({ isOn: next })}
      >
        <ul className="mt-1.5 list-disc space-y-1 pl-5 marker:text-faint">
          <li>
            {questionModel ?? "The model"} reads the question, and names, descriptions and arguments of the tools. No
            tool is called, and no data of the server is sent.
          </li>
          <li>
            Each question takes three or four calls of the model, as models vary, and none where both versions offer the
            same. They count in your organization's tokens.
          </li>
          <li>
            {replay?.isRequired
              ? "The check fails where the tool or arguments changed, as it does for answers that are different."
              : "The check is neutral where the tool or arguments changed. It fails if it also does for answers that are different."}
          </li>
          <li>Nothing is asked on pull requests from forks.</li>
        </ul>
      </SwitchField>
      {isOn && questionModel === null ? <NoModel /> : null}
      {isOn ? (
        <QuestionList
          texts={texts}
          busy={busy}
          save={(next) => change((now) => ({ ...now, texts: next(now.texts) }))}
        />
      ) : texts.length > 0 ? (
        <p className="text-sm text-muted">
          {texts.length === 1 ? "1 question is" : `${texts.length} questions are`} saved, and none is asked.
        </p>
      ) : null}
      {isOn && texts.length > 0 ? <Budget questions={questions} set={set} /> : null}
    </SettingCard>
  );
}

type BudgetProps = {
  readonly questions: CheckQuestions;
  readonly set: (changes: Partial<CheckQuestions>) => Promise<unknown>;
};

function Budget({ questions, set }: BudgetProps) {
  return (
    <>
      <NumberChoice
        id="questions-tokens"
        label="Use at most"
        nameOf={(tokens) => `${formatCount(tokens)} tokens`}
        value={questions.tokens}
        choices={[20_000, 50_000, 100_000, 250_000, 1_000_000]}
        onChange={(tokens) => void set({ tokens })}
      >
        Of input and output, in each check. What is left then is listed as not asked.
      </NumberChoice>
      <NumberChoice
        id="questions-calls"
        label="Call the model at most"
        nameOf={(calls) => `${calls} times`}
        value={questions.calls}
        choices={[10, 20, 40, 80]}
        onChange={(calls) => void set({ calls })}
      />
      <NumberChoice
        id="questions-seconds"
        label="Ask for at most"
        nameOf={(seconds) => `${seconds} seconds`}
        value={questions.seconds}
        choices={[15, 30, 60, 120]}
        onChange={(seconds) => void set({ seconds })}
      />
    </>
  );
}

function NoModel() {
  // People who manage the organization probably run the instance, or know who does.
  const mayManage = useMay("organization.manage");
  return (
    <Callout tone="warn" title="No model is configured, so no question is asked">
      {mayManage ? (
        <>
          Set <code>TOWPATH_CHAT_MODELS</code> for this instance and restart it. Chats use the same models:{" "}
          <Link to="/docs/$slug" params={{ slug: "configuration" }} hash="models" className="underline">
            how to name one
          </Link>
          .
        </>
      ) : (
        "Ask the operator of this instance to configure one."
      )}
    </Callout>
  );
}
