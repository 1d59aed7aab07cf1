import { Link } from "@tanstack/react-router";
import { FolderGit2, Globe, Package, Search } from "lucide-react";
import { useRef } from "react";
import { AddCrumbs } from "~/features/onboarding/server-form/add-page.tsx";
import { FirstServerSteps, useHasNoServer } from "~/features/onboarding/server-form/first-server-steps.tsx";
import { StartLink } from "~/features/onboarding/server-form/start-links.tsx";
import { useKeptInUrl } from "~/features/onboarding/server-form/use-kept-in-url.ts";
import { DropZone } from "~/features/onboarding/upload/drop-zone.tsx";
import { usePicked } from "~/features/onboarding/upload/use-picked.ts";
import { Failure } from "~/ui/callout.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { DeploySource } from "./deploy-source.tsx";
import { FoundSummary } from "./found-source.tsx";
import type { Keep, NewServerSearch } from "./new-server-search.ts";
import { SampleCard } from "./sample-card.tsx";
import { SourceField } from "./source-field.tsx";
import { UploadForm } from "./upload-form.tsx";
import { useSourceLook } from "./use-source-look.ts";

/** Fields of the form below, which belong to one repository. */
const ofOther: Record<keyof Omit<NewServerSearch, "from" | "branch">, undefined> = {
  serverName: undefined,
  entrypoint: undefined,
  arguments: undefined,
  requirements: undefined,
  rootDirectory: undefined,
  envVariables: undefined,
  authMode: undefined,
  previews: undefined,
};

type NewServerPageProps = {
  readonly orgSlug: string;
  readonly search: NewServerSearch;
  /** Writes fields into the URL. */
  readonly onKeep: Keep;
  /** A free name, and how a name becomes a URL. */
  readonly proposal: { readonly name: string; readonly urlTemplate: string };
};

/** A field for a pasted source, the found source, and the form that deploys it (SRC-2). */
export function NewServerPage({ orgSlug, search, onKeep, proposal }: NewServerPageProps) {
  const { urlTemplate } = proposal;
  const isFirst = useHasNoServer();
  const upload = usePicked();
  const opened = useRef(search).current;
  const look = useSourceLook(orgSlug, { text: search.from ?? "", branch: search.branch ?? null });
  const { text, source, found } = look;
  // A text with a password in it can't be read, and so doesn't get into the URL.
  const from = source === null ? undefined : text.trim();
  useKeptInUrl({ from, branch: look.branch ?? undefined }, (fields) =>
    onKeep({ ...fields, ...(fields.from !== search.from && ofOther) }),
  );
  return (
    <div className="max-w-3xl">
      <PageHeader
        above={
          isFirst ? (
            <div className="mb-5">
              <FirstServerSteps step="Server" />
            </div>
          ) : (
            <AddCrumbs orgSlug={orgSlug} parent={{ to: "/$orgSlug/servers", label: "Servers" }} crumb="New server" />
          )
        }
        title="New server"
        description="Paste where its code is, upload it, or start from the sample. None of these needs an account elsewhere."
      />
      {upload.chosen ? (
        <UploadForm
          orgSlug={orgSlug}
          urlTemplate={urlTemplate}
          picked={upload.chosen}
          otherName={proposal.name}
          onChange={upload.forget}
        />
      ) : (
        <div className="flex flex-col gap-6">
          <SourceField
            look={look}
            label="Paste a repository's URL, a package or a registry entry"
            hint={<Examples />}
            autoFocus
          />
          {source?.kind === "package" || source?.kind === "registry" ? (
            <OtherKind orgSlug={orgSlug} source={source} />
          ) : null}
          {found ? (
            <>
              <FoundSummary found={found} isLooking={look.isLooking} onBranch={look.setBranch} />
              <DeploySource
                // Reset the fields for another repository.
                key={found.url}
                orgSlug={orgSlug}
                found={found}
                branch={look.branch}
                credential={look.sentCredential}
                search={opened.from === from ? opened : {}}
                onKeep={onKeep}
                urlTemplate={urlTemplate}
              />
            </>
          ) : null}
          {text.trim() === "" ? (
            <>
              <div className="flex flex-col gap-3">
                <SampleCard orgSlug={orgSlug} serverName={proposal.name} />
                <DropZone title="Upload a folder or an archive" hint="Drop it here." onPicked={upload.pick} />
                <Failure title="This can't be uploaded">{upload.problem}</Failure>
              </div>
              <OtherWays orgSlug={orgSlug} />
            </>
          ) : null}
        </div>
      )}
    </div>
  );
}

function Examples() {
  return (
    <>
      Also <code>owner/repository</code>, a link to a folder or branch, <code>git@host:path</code>,{" "}
      <code>pypi:mcp-server-time</code> or <code>registry:weather</code>.
    </>
  );
}

type Source = NonNullable<ReturnType<typeof useSourceLook>["source"]>;

type OtherKindProps = {
  readonly orgSlug: string;
  readonly source: Extract<Source, { kind: "package" | "registry" }>;
};

function OtherKind({ orgSlug, source }: OtherKindProps) {
  if (source.kind === "package") {
    const search = { name: source.name, ...(source.version !== null && { version: source.version }) };
    return (
      <StartLink
        link={{ to: "/$orgSlug/servers/package", params: { orgSlug }, search }}
        icon={<Package />}
        title={`Deploy the package ${source.name}${source.version === null ? "" : ` ${source.version}`}`}
      >
        Choose its version, arguments and variables.
      </StartLink>
    );
  }
  return (
    <StartLink
      link={{ to: "/$orgSlug/servers/registry", params: { orgSlug }, search: { search: source.search } }}
      icon={<Search />}
      title={`Find ${source.search} in the registry`}
    >
      Choose the server, then how it runs.
    </StartLink>
  );
}

/** For people without a URL. */
function OtherWays({ orgSlug }: { readonly orgSlug: string }) {
  const params = { orgSlug };
  const look =
    "flex min-h-10 items-center gap-2.5 rounded-md border bg-surface px-3 py-2 text-sm transition-colors hover:bg-hover [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-accent-text";
  return (
    <nav aria-labelledby="other-ways">
      <h2 id="other-ways" className="mb-2 text-sm font-medium text-muted">
        Other ways
      </h2>
      <ul className="grid gap-2 sm:grid-cols-2">
        <li>
          <Link to="/$orgSlug/welcome/choose-repo" params={params} className={look}>
            <FolderGit2 /> Choose a GitHub repository
          </Link>
        </li>
        <li>
          <Link to="/$orgSlug/servers/package" params={params} className={look}>
            <Package /> Deploy a package
          </Link>
        </li>
        <li>
          <Link to="/$orgSlug/servers/registry" params={params} className={look}>
            <Search /> Find a server in a registry
          </Link>
        </li>
        <li>
          <Link to="/$orgSlug/servers/external" params={params} className={look}>
            <Globe /> Add a server that runs elsewhere
          </Link>
        </li>
      </ul>
    </nav>
  );
}
