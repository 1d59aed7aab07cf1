import { useQuery } from "@tanstack/react-query";
import type { Sampling, SamplingAnswer } from "@towpath/mcp/web-client";
import { Sparkles } from "lucide-react";
import { type ReactNode, useState } from "react";
import { chatSetupQuery } from "~/features/inspector/conversation/chat.functions.ts";
import { contentBlocks } from "~/features/shared/project-screen/content-blocks.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Button } from "~/ui/button.tsx";
import { Failure } from "~/ui/callout.tsx";
import { TextareaField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { failureText } from "~/ui/toast.ts";
import { ContentView } from "../content-view.tsx";
import { askModel } from "../sampling/sampling.functions.ts";
import { textsOf } from "../sampling/sampling-texts.ts";

type SamplingFormProps = {
  asked: Sampling;
  /** Null while it waits. */
  outcome: ReactNode;
  projectKey: ProjectKey;
  onAnswer: (answer: SamplingAnswer | null) => void;
};

/** A server's request to a model (MCP, sampling). The person reads it, and answers by hand or lets a model answer. */
export function SamplingForm({ asked, outcome, projectKey, onAnswer }: SamplingFormProps) {
  return (
    <fieldset aria-label="The server asks a model" className="flex min-w-0 flex-col gap-3 rounded-md border p-3">
      <p className="text-sm">
        The server asks your model for an answer of at most {asked.maxTokens.toLocaleString("en")} tokens.
      </p>
      {asked.systemPrompt !== null && (
        <p className="text-sm break-words whitespace-pre-wrap">
          <span className="text-muted">Instructions: </span>
          {asked.systemPrompt}
        </p>
      )}
      {contentBlocks({ messages: messagesOf(asked) }).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks of a constant request
        <ContentView key={index} block={block} />
      ))}
      {outcome !== null ? (
        <p className="text-xs text-muted">{outcome}</p>
      ) : (
        <Answer asked={asked} projectKey={projectKey} onAnswer={onAnswer} />
      )}
    </fieldset>
  );
}

/** One message for each block. */
const messagesOf = ({ messages }: Sampling) =>
  messages.flatMap(({ role, content }) =>
    (Array.isArray(content) ? content : [content]).map((each: unknown) => ({ role, content: each })),
  );

const byHand = "answered by hand";

type AnswerProps = {
  asked: Sampling;
  projectKey: ProjectKey;
  onAnswer: (answer: SamplingAnswer | null) => void;
};

function Answer({ asked, projectKey, onAnswer }: AnswerProps) {
  const { data: setup } = useQuery(chatSetupQuery(projectKey));
  const [text, setText] = useState("");
  const [author, setAuthor] = useState(byHand);
  const [isAsking, setIsAsking] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const model = setup?.models[0];
  const texts = textsOf(asked);
  const ask = async () => {
    if (!texts) return;
    setIsAsking(true);
    setFailure(null);
    try {
      const answer = await askModel({ data: { ...projectKey, ...texts } });
      setText(answer.text);
      setAuthor(answer.model);
    } catch (error) {
      setFailure(failureText(error));
    } finally {
      setIsAsking(false);
    }
  };
  return (
    <Form
      className="flex flex-col gap-3"
      onSubmit={() => {
        if (text.trim() !== "") onAnswer({ text, model: author });
      }}
    >
      <TextareaField
        label="Answer"
        hint={author === byHand ? "You answer in place of a model." : `Written by ${author}. Edit it if you like.`}
        className="min-h-20"
        value={text}
        onChange={setText}
      />
      <Failure>{failure}</Failure>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" size="sm" variant="primary" disabled={text.trim() === ""}>
          Send answer
        </Button>
        {model !== undefined && texts !== null && (
          <Button size="sm" icon={<Sparkles />} busy={isAsking} onClick={() => void ask()}>
            Ask {model}
          </Button>
        )}
        <Button size="sm" variant="ghost" onClick={() => onAnswer(null)}>
          Don't allow
        </Button>
      </div>
    </Form>
  );
}
