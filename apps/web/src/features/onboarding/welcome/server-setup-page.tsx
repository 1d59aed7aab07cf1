import { Link, useNavigate } from "@tanstack/react-router";
import { parseSourceText } from "@towpath/core/sources/source/text/schema";
import { FolderGit2, Rocket } from "lucide-react";
import { useState } from "react";
import { type DeploySearch, repositoryOf, type SetupSearch } from "~/features/onboarding/server-form/deploy-search.ts";
import { OnboardingFrame } from "~/features/onboarding/server-form/onboarding-frame.tsx";
import { ServerNameField, useServerName } from "~/features/onboarding/server-form/server-name-field.tsx";
import { PublishedServerLinks, StartLink } from "~/features/onboarding/server-form/start-links.tsx";
import { useKeptInUrl } from "~/features/onboarding/server-form/use-kept-in-url.ts";
import { useSample } from "~/features/onboarding/source/sample-card.tsx";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Callout, Failure } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { OtherOrganization } from "./other-organization.tsx";
import { useQuickstart } from "./use-quickstart.ts";

type ServerSetupPageProps = {
  readonly orgSlug: string;
  readonly search: SetupSearch;
  /** Writes fields into the URL. */
  readonly onKeep: (fields: SetupSearch) => void;
  /** The name of the server to create, for a user who returns from GitHub. */
  readonly resume: string | null;
  readonly proposal: { readonly name: string; readonly urlTemplate: string };
  readonly connected: boolean;
};

/** ONB-3: the sample in one click, or the user's own repository. */
export function ServerSetupPage({ orgSlug, search, onKeep, resume, proposal, connected }: ServerSetupPageProps) {
  const choice = useServerName(orgSlug, search.serverName ?? proposal.name);
  const quickstart = useQuickstart(orgSlug, resume);
  const sample = useSample(orgSlug);
  useKeptInUrl({ serverName: choice.name, error: undefined }, onKeep);
  const { isCreating: _isCreating, error, ...deploy } = search;
  return (
    <OnboardingFrame
      step="Server"
      title="Deploy a server"
      description="Paste a URL, or start from the echo sample, a repository or a published server."
    >
      <OtherOrganization teamId={search.teamId} />
      <Failure title="The server was not created" className="mb-5">
        {error}
      </Failure>
      <Failure title="The server was not created" className="mb-5">
        {sample.failure}
      </Failure>
      {quickstart.grant ? <GrantCallout {...quickstart.grant} orgSlug={orgSlug} /> : null}
      <PasteUrl orgSlug={orgSlug} />
      {connected ? null : <ConnectCallout orgSlug={orgSlug} />}
      <Card>
        <CardHeader
          title="Quickstart"
          description={
            connected
              ? "Copies a small echo server into your GitHub account, builds it and deploys it."
              : "Makes a repository on this instance with a small echo server, builds it and deploys it."
          }
        />
        <CardBody>
          <Form
            className="flex flex-col gap-4"
            onSubmit={() => {
              if (choice.problem !== null) return;
              if (connected) void quickstart.start(choice.name);
              else sample.deploy(choice.name);
            }}
          >
            <ServerNameField choice={choice} urlTemplate={proposal.urlTemplate} error={quickstart.nameProblem} />
            <Button
              type="submit"
              size="lg"
              icon={<Rocket />}
              busy={quickstart.busy || sample.busy}
              className="self-start"
            >
              {quickstart.isCreating ? "Creating the server" : "Deploy the echo server"}
            </Button>
            <p aria-live="polite" className="text-xs text-muted empty:hidden">
              {quickstart.isCreating ? "Copying the sample to GitHub and starting the build…" : ""}
            </p>
          </Form>
        </CardBody>
      </Card>
      <RepositoryLink orgSlug={orgSlug} deploy={{ ...deploy, serverName: choice.name }} />
      <PublishedServerLinks orgSlug={orgSlug} />
    </OnboardingFrame>
  );
}

/** Link to the form of the address's repository, else to a choice. */
function RepositoryLink({ orgSlug, deploy }: { readonly orgSlug: string; readonly deploy: DeploySearch }) {
  const address = repositoryOf(deploy);
  const to = address ? "/$orgSlug/welcome/server-deploy" : "/$orgSlug/welcome/choose-repo";
  return (
    <StartLink
      link={{ to, params: { orgSlug }, search: address ? deploy : { installationId: deploy.installationId } }}
      icon={<FolderGit2 />}
      title={address ? `Deploy ${address.owner}/${address.repo}` : "Choose a repository"}
    >
      {address ? "Continue with the repository from this link." : "Deploy a Python MCP server you already have."}
    </StartLink>
  );
}

function ConnectCallout({ orgSlug }: { readonly orgSlug: string }) {
  return (
    <Callout
      tone="info"
      title="GitHub is not connected"
      className="mb-5"
      actions={
        <Link
          to="/$orgSlug/welcome/connect-github"
          params={{ orgSlug }}
          search={{ success: false }}
          className={buttonLook({ size: "sm" })}
        >
          Connect GitHub
        </Link>
      }
    >
      Only repositories of your GitHub account need it. A pasted URL, the sample and published servers don't.
    </Callout>
  );
}

type GrantCalloutProps = {
  readonly url: string;
  readonly repository: string;
  readonly orgSlug: string;
};

function GrantCallout({ url, repository, orgSlug }: GrantCalloutProps) {
  return (
    <Callout
      tone="warn"
      title={`${repository} was created, but Towpath can't read it yet`}
      className="mb-5"
      actions={
        <>
          <a href={url} className={buttonLook({ size: "sm", variant: "primary" })}>
            Grant access on GitHub
          </a>
          <Link to="/$orgSlug/welcome/choose-repo" params={{ orgSlug }} className={buttonLook({ size: "sm" })}>
            Then choose it here
          </Link>
        </>
      }
    >
      The App can only read selected repositories in your account. Add this one.
    </Callout>
  );
}

/** Opens the page that looks into the pasted source (SRC-2). */
function PasteUrl({ orgSlug }: { readonly orgSlug: string }) {
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
        <Form
          aria-label="Paste a URL"
          className="flex flex-col gap-3"
          onSubmit={() => {
            goOn(text);
          }}
        >
          <TextField
            label="Repository's URL, package or registry entry"
            error={problem}
            mono
            className="h-10 text-sm"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="https://github.com/owner/repository"
            value={text}
            onChange={(next) => {
              setText(next);
              setProblem(null);
            }}
          />
          <Button type="submit" variant="primary" size="lg" className="self-start">
            Continue
          </Button>
        </Form>
      </CardBody>
    </Card>
  );
}
