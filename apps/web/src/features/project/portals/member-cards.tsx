import { useQuery } from "@tanstack/react-query";
import type { Catalog } from "@towpath/mcp/portal";
import { Plus, X } from "lucide-react";
import { serversQuery } from "~/features/organization/servers/servers.functions.ts";
import { AuthModeBadge } from "~/features/shared/project-screen/project-labels.tsx";
import { Badge } from "~/ui/badge.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody } from "~/ui/card.tsx";
import { TextField } from "~/ui/field.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { ServerIcon } from "~/ui/letter-tile.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { SelectField } from "~/ui/select.tsx";
import { ItemChoice } from "./item-choice.tsx";
import type { Member, Offered, useMembers } from "./use-members.ts";

type State = ReturnType<typeof useMembers>;

type MemberCardsProps = {
  readonly orgSlug: string;
  readonly state: State;
  /** The server's errors, by field. */
  readonly problems: Readonly<Record<string, string>>;
  /** Whether anyone may call the portal. */
  readonly isOpen: boolean;
  readonly disabled: boolean;
};

/** The servers of a portal with their chosen items, and a button to add one. */
export function MemberCards({ orgSlug, state, problems, isOpen, disabled }: MemberCardsProps) {
  const { members, offered, catalog } = state;
  const closed = isOpen ? members.filter(({ authMode }) => authMode !== "towpath-public") : [];
  return (
    <div className="flex flex-col gap-3">
      {members.map((member, at) => (
        <MemberCard
          key={member.projectId}
          member={member}
          catalog={catalog}
          state={state}
          disabled={disabled}
          offered={offered[at]}
          problems={{ server: problems[`servers.${at}.server`], prefix: problems[`servers.${at}.prefix`] }}
        />
      ))}
      {disabled ? null : (
        <AddMember orgSlug={orgSlug} state={state} problem={members.length === 0 ? problems.servers : undefined} />
      )}
      {closed.length > 0 ? (
        <Callout tone="info" title="Strangers see only servers that are open to anyone">
          {closed.map(({ name }) => name).join(", ")} {closed.length === 1 ? "is" : "are"} for members only, so callers
          of this open portal don't reach {closed.length === 1 ? "it" : "them"}.
        </Callout>
      ) : null}
    </div>
  );
}

type AddMemberProps = {
  readonly orgSlug: string;
  readonly state: State;
  readonly problem: string | undefined;
};

function AddMember({ orgSlug, state: { members, add }, problem }: AddMemberProps) {
  const { data } = useQuery(serversQuery({ orgSlug, type: "all", text: "" }));
  const free = (data ?? []).filter(({ id }) => !members.some(({ projectId }) => projectId === id));
  const choices = free.filter(({ authMode }) => authMode !== "passthrough");
  return (
    <SelectField
      label="Add a server"
      error={problem}
      hint={
        free.length > choices.length
          ? "Servers with their own sign-in can't be in a portal."
          : data && choices.length === 0
            ? "All of the organization's servers are in this portal."
            : undefined
      }
      value={null}
      placeholder="Choose a server"
      prefix={<Plus />}
      disabled={choices.length === 0}
      onChange={(id) => {
        const server = choices.find((each) => each.id === id);
        if (server) add(server);
      }}
      options={choices.map(({ id, name, live, external }) => ({
        value: id,
        label: name,
        detail: external
          ? "External"
          : live?.tools == null
            ? undefined
            : live.tools === 1
              ? "1 tool"
              : `${live.tools} tools`,
      }))}
      className="sm:w-80"
    />
  );
}

type MemberCardProps = {
  readonly member: Member;
  readonly offered: Offered;
  readonly catalog: Catalog;
  readonly state: State;
  readonly problems: { readonly server: string | undefined; readonly prefix: string | undefined };
  readonly disabled: boolean;
};

function MemberCard({ member, offered, catalog, state, problems, disabled }: MemberCardProps) {
  const { projectId, name, prefix } = member;
  const own = <Item extends { projectId: string }>(items: readonly Item[]) =>
    items.filter((item) => item.projectId === projectId);
  const resources = [
    ...(offered?.resources ?? []).map(({ uri, description }) => ({ own: uri, description })),
    ...(offered?.templates ?? []).map(({ uriTemplate, description }) => ({ own: uriTemplate, description })),
  ];
  const tools = (offered?.tools ?? []).map(({ tool_name, description }) => ({ own: tool_name, description }));
  const prompts = (offered?.prompts ?? []).map(({ prompt_name, description }) => ({ own: prompt_name, description }));
  const shared = { server: name, disabled };
  return (
    <Card aria-label={name}>
      <header className="flex flex-wrap items-center gap-x-2 gap-y-1 px-4 pt-3 pb-2">
        <ServerIcon name={name} url={member.iconUrl} className="size-5" />
        <h2 className="min-w-0 truncate text-sm font-semibold">{name}</h2>
        <AuthModeBadge mode={member.authMode} />
        {disabled ? null : (
          <span className="ml-auto">
            <IconButton label={`Remove ${name}`} onClick={() => state.remove(projectId)}>
              <X />
            </IconButton>
          </span>
        )}
      </header>
      <CardBody className="flex flex-col gap-3">
        {problems.server ? <Callout tone="bad" title={problems.server} /> : null}
        {member.authMode === "passthrough" ? (
          <Callout tone="warn" title="Nobody can reach this server through the portal">
            It has its own sign-in, and would need credentials made for the portal.
          </Callout>
        ) : null}
        {offered === undefined ? <Skeleton className="h-8" /> : null}
        {offered === null ? (
          <p className="text-sm text-muted">
            <Badge tone="warn">Not live</Badge> Its tools appear here once it's deployed.
          </p>
        ) : null}
        {offered ? (
          <>
            <ItemChoice
              {...shared}
              kind="tools"
              choices={tools}
              chosen={member.tools}
              offered={own(catalog.tools)}
              onChange={(chosen) => state.change(projectId, { tools: chosen })}
            />
            {resources.length > 0 ? (
              <ItemChoice
                {...shared}
                kind="resources"
                choices={resources}
                chosen={member.resources}
                offered={[...own(catalog.resources), ...own(catalog.templates)]}
                onChange={(chosen) => state.change(projectId, { resources: chosen })}
              />
            ) : null}
            {prompts.length > 0 ? (
              <ItemChoice
                {...shared}
                kind="prompts"
                choices={prompts}
                chosen={member.prompts}
                offered={own(catalog.prompts)}
                onChange={(chosen) => state.change(projectId, { prompts: chosen })}
              />
            ) : null}
          </>
        ) : null}
        <TextField
          label={`Prefix of ${name}`}
          error={problems.prefix}
          hint="Added to names that another server also uses."
          mono
          className="sm:w-56"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={prefix}
          disabled={disabled}
          onChange={(next) => state.change(projectId, { prefix: next })}
        />
      </CardBody>
    </Card>
  );
}
