import { type CommandSpec, common, path, value } from "./command-spec.ts";

/** Whose tokens open servers without a key. Part of the table of commands. */
export const workloadCommands = {
  workloads: {
    arguments: "[ACTION] [ID]",
    choices: { 1: ["list", "add", "revoke", "remove"] },
    text:
      "Lists the organization's workload identities: whose tokens open its servers without a key, such as those of a " +
      "cluster's service accounts (see docs/identity.md). Adds one, revokes or removes one by its id: ACTION is list, add, " +
      "revoke or remove.",
    options: {
      name: value("NAME", "of add: what to call it"),
      issuer: value("URL", "of add: the claim iss of the tokens"),
      subject: {
        ...value("PATTERN", "of add: subjects that may call; * stands for characters but a colon"),
        multiple: true,
      },
      server: { ...value("NAME", "of add: a server that they may call; all unless given"), multiple: true },
      "jwks-url": value("URL", "of add: where the issuer's keys are; else its discovery document says"),
      "key-set": path("FILE", "of add: the keys themselves, a JWK set"),
      ca: path("FILE", "of add: certificates (PEM) that the issuer's host is trusted by"),
      organization: value("SLUG", "the organization, if there are several"),
      ...common,
    },
    examples: [
      "workloads",
      "workloads add --name Agents --issuer https://kubernetes.default.svc.cluster.local --ca ca.crt --subject 'system:serviceaccount:agents:*'",
      "workloads revoke 0198f6a0-0000-7000-8000-000000000000",
    ],
  },
} as const satisfies Record<string, CommandSpec>;
