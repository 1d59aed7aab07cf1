import type { RegistryEntry } from "@towpath/core/projects/registry";
import { type ArgumentRow, argumentRows } from "./schema-rows.ts";

/** The server's items on the page of a public project. */
export type RegistryOffers = {
  readonly protocolVersion: string;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string | null;
    readonly arguments: readonly ArgumentRow[];
    readonly isReadOnly: boolean;
    readonly isDestructive: boolean;
  }[];
  /** Resources and templates by their address. */
  readonly resources: readonly OfferedItem[];
  readonly prompts: readonly OfferedItem[];
};

export type OfferedItem = { readonly name: string; readonly detail: string; readonly description: string | null };

export function registryOffers(manifest: NonNullable<RegistryEntry["manifest"]>): RegistryOffers {
  const { protocolVersion, tools, resources, templates, prompts } = manifest;
  return {
    protocolVersion,
    tools: tools.map(({ tool_name: name, description, inputSchema, annotations }) => ({
      name,
      description,
      arguments: argumentRows(inputSchema),
      isReadOnly: annotations?.readOnlyHint === true,
      isDestructive: annotations?.destructiveHint === true && annotations.readOnlyHint !== true,
    })),
    resources: [
      ...resources.map((each) => ({ name: each.title ?? each.resource_name, detail: each.uri, ...describe(each) })),
      ...templates.map((each) => ({
        name: each.title ?? each.template_name,
        detail: each.uriTemplate,
        ...describe(each),
      })),
    ],
    prompts: prompts.map((each) => ({
      name: each.title ?? each.prompt_name,
      detail: each.arguments.map(({ name, required }) => (required ? name : `${name}?`)).join(", "),
      ...describe(each),
    })),
  };
}

const describe = ({ description }: { readonly description: string | null }) => ({ description });
