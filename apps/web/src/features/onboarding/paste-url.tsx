import { useNavigate } from "@tanstack/react-router";
import { parseSourceText } from "@towpath/core/source/text/schema";
import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { Field, Input } from "~/ui/field.tsx";

/** Leads to the page that looks at what was pasted (SRC-2). */
export function PasteUrl({ orgSlug }: { readonly orgSlug: string }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const goOn = (given: string) => {
    const parsed = parseSourceText(given);
    if ("problem" in parsed) return setProblem(parsed.problem);
    void navigate({ to: "/$orgSlug/servers/new", params: { orgSlug }, search: { from: given.trim() } });
  };
  return (
    <Card className="mb-5">
      <CardHeader title="Paste a URL" description="Any Git repository. A public one needs no account anywhere." />
      <CardBody>
        <form
          noValidate
          aria-label="Paste a URL"
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            goOn(text);
          }}
        >
          <Field label="Repository's URL, package or registry entry" error={problem}>
            {(control) => (
              <Input
                {...control}
                mono
                className="h-10 text-sm"
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                placeholder="https://github.com/owner/repository"
                value={text}
                onChange={(event) => {
                  setText(event.target.value);
                  setProblem(null);
                }}
              />
            )}
          </Field>
          <Button type="submit" variant="primary" size="lg" className="self-start">
            Continue
          </Button>
        </form>
      </CardBody>
    </Card>
  );
}
