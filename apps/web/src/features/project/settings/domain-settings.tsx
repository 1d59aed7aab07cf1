import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Failure } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { addDomain, domainsQuery } from "./domains.functions.ts";

const DomainCard = lazyPart(
  async () => (await import("./domain-card.tsx")).DomainCard,
  <Skeleton className="h-48 w-full" />,
);

type Owner = { readonly projectKey: ProjectKey };

/** Domains of its own that lead to a server or portal, and the DNS records that they need (OPS-12). */
export function DomainSettings({ projectKey }: Owner) {
  const { data: domains = [], isError, refetch } = useQuery(domainsQuery(projectKey));
  return (
    <Card id="domains" className="scroll-mt-24">
      <CardHeader
        title="Domains"
        description="Addresses at a domain of yours that lead here too. Clients sign in at each address by itself."
      />
      <CardBody className="flex flex-col gap-5">
        {isError ? (
          <p className="text-sm text-muted">
            Couldn't load the domains.{" "}
            <Button variant="link" size="inline" onClick={() => void refetch()}>
              Try again
            </Button>
          </p>
        ) : null}
        {domains.length > 0 ? (
          <ul aria-label="Domains" className="flex flex-col gap-4">
            {domains.map((domain) => (
              <li key={domain.domain}>
                <DomainCard projectKey={projectKey} domain={domain} />
              </li>
            ))}
          </ul>
        ) : null}
        <AddDomain projectKey={projectKey} />
      </CardBody>
    </Card>
  );
}

function AddDomain({ projectKey }: Owner) {
  const queryClient = useQueryClient();
  const [domain, setDomain] = useState("");
  const { problems, failure, busy, run } = useSubmit();
  const submit = () =>
    run(async () => {
      await addDomain({ data: { ...projectKey, domain } });
      setDomain("");
      await queryClient.invalidateQueries(domainsQuery(projectKey));
    });
  return (
    <Form aria-label="Add a domain" onSubmit={submit} className="flex flex-col items-start gap-3">
      <Failure title="The domain was not added">{failure}</Failure>
      <TextField
        label="Domain"
        hint="Such as mcp.example.com. Then add the DNS records that are shown."
        error={problems.domain}
        fieldClassName="w-full max-w-md"
        mono
        autoComplete="off"
        spellCheck={false}
        value={domain}
        disabled={busy}
        onChange={setDomain}
      />
      <Button type="submit" busy={busy}>
        Add domain
      </Button>
    </Form>
  );
}
