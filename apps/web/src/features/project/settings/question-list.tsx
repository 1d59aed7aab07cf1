import { MessageCircleQuestion, Pencil, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import { IconButton } from "~/ui/icon-button.tsx";
import { QuestionForm } from "./question-form.tsx";

const maxQuestions = 20;

type QuestionListProps = {
  readonly texts: readonly string[];
  readonly busy: boolean;
  /** Gives the same when it is used on its own result. Returns whether it was saved. */
  readonly save: (update: (texts: readonly string[]) => string[]) => Promise<boolean>;
};

/** The saved questions, which are added, edited and deleted one at a time. */
export function QuestionList({ texts, busy, save }: QuestionListProps) {
  const [edited, setEdited] = useState<string | null>(null);
  const list = useRef<HTMLDivElement>(null);
  /** A control that is gone would take the keyboard's focus with it. */
  const keepFocus = () => list.current?.focus();
  const remove = async (text: string) => {
    if (await save((now) => now.filter((each) => each !== text))) keepFocus();
  };
  const replace = async (text: string, by: string) => {
    const isSaved = by === text || (await save((now) => now.map((each) => (each === text ? by : each))));
    if (!isSaved) return false;
    setEdited(null);
    keepFocus();
    return true;
  };
  return (
    <div ref={list} tabIndex={-1} className="flex flex-col gap-3">
      {texts.length === 0 ? (
        <NoQuestions />
      ) : (
        <ul aria-label="Saved questions" className="divide-y rounded-md border">
          {texts.map((text) => (
            <li key={text} className="flex items-start gap-1 px-3 py-2 text-sm">
              {edited === text ? (
                <QuestionForm
                  label="Question"
                  submit="Save question"
                  initial={text}
                  others={texts.filter((each) => each !== text)}
                  busy={busy}
                  save={(by) => replace(text, by)}
                  onCancel={() => {
                    setEdited(null);
                    keepFocus();
                  }}
                />
              ) : (
                <>
                  <span className="min-w-0 flex-1 py-1 break-words whitespace-pre-wrap">{text}</span>
                  <IconButton size="sm" label={`Edit: ${shortOf(text)}`} onClick={() => setEdited(text)}>
                    <Pencil />
                  </IconButton>
                  <IconButton size="sm" label={`Delete: ${shortOf(text)}`} onClick={() => void remove(text)}>
                    <Trash2 />
                  </IconButton>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {texts.length < maxQuestions ? (
        <QuestionForm
          label="New question"
          submit="Add question"
          initial=""
          others={texts}
          busy={busy}
          save={(text) => save((now) => [...now.filter((each) => each !== text), text])}
        />
      ) : (
        <p className="text-xs text-muted">{maxQuestions} questions are saved, which is the limit.</p>
      )}
    </div>
  );
}

const shortOf = (text: string) => (text.length <= 60 ? text : `${text.slice(0, 60)}…`);

function NoQuestions() {
  return (
    <div className="flex gap-3 rounded-md border border-dashed px-3.5 py-3 text-sm">
      <MessageCircleQuestion className="mt-0.5 size-4 shrink-0 text-accent-text" />
      <div className="min-w-0">
        <p className="font-medium">No questions yet</p>
        <p className="text-pretty text-muted">
          Save what people ask an assistant that has this server, with the values that a tool needs: “Which trains leave
          Oslo for Bergen after 18:00?”, “Find the open invoices of Acme.” One question for each tool finds a
          description that now leads to another tool. Don't enter secrets: questions are shown in checks and exported.
        </p>
      </div>
    </div>
  );
}
