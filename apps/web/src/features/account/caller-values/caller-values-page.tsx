import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CallerValuesView, ValueCheckView } from "@towpath/core/projects/caller-value";
import { KeyRound, Trash2 } from "lucide-react";
import { useState } from "react";
import { AccountFrame } from "~/features/account/account/account-frame.tsx";
import { useSubmit } from "~/http/use-submit.ts";
import { Ask, type Question } from "~/ui/ask.tsx";
import { Badge } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { Callout, Failure } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Field } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { SecretInput } from "~/ui/secret-input.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import {
  callerServersQuery,
  checkSavedValues,
  removeCallerValue,
  saveCallerValues,
} from "./caller-values.functions.ts";

/** The user's own values for servers that ask each caller for some (CAP-1). No page contains a stored value. */
export function CallerValuesPage() {
  const { data: servers } = useSuspenseQuery(callerServersQuery);
  return (
    <AccountFrame
      title="My values"
      description="Some servers work with your own key or token. What you enter is stored encrypted for you and that server, and given only to your own instance of it: the server's owner can't read it here, but their code gets it."
    >
      {servers.length === 0 ? (
        <Card>
          <EmptyState icon={<KeyRound />} title="No server asks for a value of yours">
            A server's owner can mark an environment variable as per caller, such as <code>GITHUB_TOKEN</code>. Your
            first call of such a server brings you here.
          </EmptyState>
        </Card>
      ) : (
        servers.map((server) => <ServerValues key={server.projectId} server={server} />)
      )}
    </AccountFrame>
  );
}

function ServerValues({ server }: { readonly server: CallerValuesView }) {
  const { orgSlug, name: projectName } = server;
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const { busy, problem, run, refuse } = useSubmit();
  const [check, setCheck] = useState<ValueCheckView | "running" | null>(null);
  const refresh = () => queryClient.invalidateQueries(callerServersQuery);
  const missing = server.values.filter(({ setAt }) => setAt === null);
  const submit = async () => {
    const values = Object.entries(typed).flatMap(([keyName, value]) => (value === "" ? [] : [{ keyName, value }]));
    if (values.length === 0) return refuse({ form: "Enter a value first." });
    setCheck(null);
    await run(async () => {
      const saved = await saveCallerValues({ data: { orgSlug, projectName, values } });
      setTyped({});
      await refresh();
      const isComplete = saved.values.every(({ setAt }) => setAt !== null);
      if (!saved.isChecked || !isComplete)
        return toast.success("Saved. Your next call uses it: repeat the call in your client.");
      setCheck("running");
      setCheck(await checkSavedValues({ data: { orgSlug, projectName } }).catch(notChecked));
    });
  };
  return (
    <Card id={server.projectId} className="scroll-mt-24">
      <CardHeader
        title={
          <span className="flex flex-wrap items-center gap-2">
            <Link to="/$orgSlug/$projectName" params={{ orgSlug, projectName }} className="hover:underline">
              {projectName}
            </Link>
            {missing.length === 0 ? (
              <Badge tone="ok">Ready for your calls</Badge>
            ) : (
              <Badge tone="warn">Needs a value</Badge>
            )}
          </span>
        }
        description={server.organization}
      />
      <CardBody className="border-t pt-4">
        <Form
          aria-label={`My values for ${projectName}`}
          className="flex flex-col gap-4"
          onSubmit={() => void submit()}
        >
          {server.values.map((value) => (
            <ValueField
              key={value.keyName}
              server={server}
              value={value}
              typed={typed[value.keyName] ?? ""}
              onType={(text) => setTyped({ ...typed, [value.keyName]: text })}
              onDeleted={refresh}
            />
          ))}
          <Failure title={check === null ? "Nothing was saved" : "Not checked"}>{problem}</Failure>
          <CheckResult check={check} />
          <Button type="submit" variant="primary" busy={busy} className="self-start">
            Save
          </Button>
        </Form>
      </CardBody>
    </Card>
  );
}

const notChecked = (error: unknown): ValueCheckView => ({ outcome: "unclear", answer: failureText(error) });

/** What the server answered for the values, which are saved already. */
function CheckResult({ check }: { readonly check: ValueCheckView | "running" | null }) {
  return (
    <div role="status" className="empty:sr-only">
      {check === null ? null : check === "running" ? (
        <Callout title="Saved. Asking the server whether it accepts it…" />
      ) : check.outcome === "accepted" ? (
        <Callout tone="ok" title="Saved, and accepted by the server">
          Repeat the call in your client.
        </Callout>
      ) : (
        <Callout
          tone="warn"
          title={check.outcome === "refused" ? "Saved, but the server did not accept it" : "Saved, but not checked"}
        >
          {check.answer}
        </Callout>
      )}
    </div>
  );
}

type ValueFieldProps = {
  readonly server: CallerValuesView;
  readonly value: CallerValuesView["values"][number];
  readonly typed: string;
  readonly onType: (text: string) => void;
  readonly onDeleted: () => Promise<void>;
};

function ValueField({ server, value: { keyName, description, setAt }, typed, onType, onDeleted }: ValueFieldProps) {
  const [question, setQuestion] = useState<Question | null>(null);
  const ask = () =>
    setQuestion({
      title: `Delete your ${keyName}?`,
      description: `Your next call of ${server.name} is refused until you enter it again. Your instance of the server ends.`,
      action: "Delete value",
      danger: true,
      run: async () => {
        await removeCallerValue({ data: { orgSlug: server.orgSlug, projectName: server.name, keyName } });
        await onDeleted();
      },
    });
  return (
    <div className="flex items-start gap-1.5">
      <Field
        fieldClassName="flex-1"
        label={<code className="text-xs">{keyName}</code>}
        hint={
          <>
            {description}{" "}
            {setAt === null ? null : (
              <>
                Set <RelativeTime time={setAt} />.
              </>
            )}
          </>
        }
      >
        {({ required: _, ...control }) => (
          <SecretInput
            control={control}
            called={keyName}
            value={typed}
            placeholder={setAt === null ? "Not set yet" : "Unchanged"}
            onChange={onType}
          />
        )}
      </Field>
      {setAt === null ? null : (
        <IconButton label={`Delete ${keyName}`} className="mt-6.5" onClick={ask}>
          <Trash2 />
        </IconButton>
      )}
      <Ask question={question} onClose={() => setQuestion(null)} />
    </div>
  );
}
