import type { AccessView } from "@towpath/core/calling/access";
import { Badge } from "~/ui/badge.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { ChoiceCards } from "~/ui/segmented.tsx";
import type { AccessForm } from "./use-access-form.ts";

type Role = AccessView["roles"][number];

const roleTexts: readonly { role: Role; label: string; description: string }[] = [
  { role: "owner", label: "Owners", description: "manage the organization and delete it" },
  { role: "admin", label: "Admins", description: "manage members, keys and access" },
  { role: "member", label: "Members", description: "deploy servers and change their settings" },
  { role: "viewer", label: "Viewers", description: "can view everything and change nothing; not allowed by default" },
];

type Section = { readonly form: AccessForm; readonly disabled: boolean };

/** Which roles may call. */
export function RoleSection({ form, disabled }: Section) {
  return (
    <Card>
      <CardHeader
        title="Roles"
        description="Members who can call this server from a client, with a personal API key, or in the inspector."
      />
      <CardBody>
        <ul aria-label="Roles that can call" className="flex flex-col gap-2.5">
          {roleTexts.map(({ role, label, description }) => (
            <li key={role}>
              <Checkbox
                checked={form.draft.roles.includes(role)}
                disabled={disabled}
                onChange={(checked) => form.toggleRole(role, checked)}
              >
                <span className="font-medium">{label}</span> <span className="text-muted">{description}</span>
              </Checkbox>
            </li>
          ))}
        </ul>
      </CardBody>
    </Card>
  );
}

/** Which of the organization's API keys may call. */
export function KeySection({ form, disabled, keys }: Section & { readonly keys: AccessView["keys"] }) {
  const { apiKeys } = form.draft;
  return (
    <Card>
      <CardHeader
        title="API keys and workloads"
        description="The organization's keys and workload identities. Personal keys follow their owner's role."
      />
      <CardBody className="flex flex-col gap-4">
        <ChoiceCards
          label="API keys that can call"
          value={apiKeys === "all" ? "all" : "some"}
          disabled={disabled}
          onChange={(scope) => form.change({ apiKeys: scope === "all" ? "all" : keys.map(({ id }) => id) })}
          options={[
            { value: "all", label: "All keys", description: "Includes keys created later." },
            {
              value: "some",
              label: "Only selected keys",
              description: "New keys can't call until you allow them here.",
            },
          ]}
        />
        {apiKeys === "all" ? null : (
          <ul aria-label="Selected API keys" className="flex flex-col gap-2.5">
            {keys.length === 0 ? <li className="text-sm text-muted">The organization has no API keys yet.</li> : null}
            {keys.map((key) => (
              <li key={key.id}>
                <Checkbox
                  checked={apiKeys.includes(key.id)}
                  disabled={disabled}
                  onChange={(checked) => form.toggleKey(key.id, checked)}
                >
                  <span className="font-medium break-words">{key.name || "Unnamed key"}</span>{" "}
                  <code className="text-xs break-all text-muted">
                    {key.kind === "key" ? `${key.start}…` : key.start}
                  </code>{" "}
                  {key.isActive ? null : <Badge tone="neutral">Revoked or expired</Badge>}
                </Checkbox>
              </li>
            ))}
          </ul>
        )}
      </CardBody>
    </Card>
  );
}

/** Which tools may be called. */
export function ToolSection({ form, disabled, access }: Section & { readonly access: AccessView }) {
  const { tools } = form.draft;
  return (
    <Card>
      <CardHeader
        title="Tools"
        description="For every caller, in production and previews. Clients see only these in the server's list."
      />
      <CardBody className="flex flex-col gap-4">
        <ChoiceCards
          label="Tools that callers can use"
          value={tools === "all" ? "all" : "some"}
          disabled={disabled}
          onChange={(scope) =>
            form.change({ tools: scope === "all" ? "all" : access.knownTools.map(({ name }) => name) })
          }
          options={[
            { value: "all", label: "All tools", description: "Includes tools that later versions add." },
            {
              value: "some",
              label: "Only selected tools",
              description: "New tools can't be called until you allow them here.",
            },
          ]}
        />
        {tools === "all" ? null : (
          <ul aria-label="Selected tools" className="flex flex-col gap-2.5">
            {access.knownTools.length === 0 ? (
              <li className="text-sm text-muted">
                {access.isLive
                  ? "The live version has no tools to call."
                  : "Nothing is live yet. Choose tools here after the first deployment. Until then, no tool can be called."}
              </li>
            ) : null}
            {access.knownTools.map((tool) => (
              <li key={tool.name}>
                <Checkbox
                  checked={tools.includes(tool.name)}
                  disabled={disabled}
                  onChange={(checked) => form.toggleTool(tool.name, checked)}
                >
                  <code className="font-medium wrap-anywhere">{tool.name}</code>{" "}
                  {tool.isNew ? <Badge tone="info">New</Badge> : null}
                  {tool.isLive ? null : <Badge tone="warn">Not in the live version</Badge>}
                  {tool.description ? (
                    <span className="mt-0.5 line-clamp-2 block text-xs text-muted">{tool.description}</span>
                  ) : null}
                </Checkbox>
              </li>
            ))}
          </ul>
        )}
        <p className="text-xs text-muted">
          This doesn't cover prompts, resources and templates: every caller can read them. A tool that runs other tools
          by name, such as a tool search, still reaches them.
        </p>
      </CardBody>
    </Card>
  );
}
