import type { ServerExport } from "@towpath/core/delivery/export";
import { fileNames } from "./file-names.ts";

type Facts = Pick<ServerExport, "document" | "surface"> & {
  readonly requirements: readonly string[];
  /** Whether packages may come from another index than the public one. */
  readonly hasIndexes: boolean;
  readonly hasHistory: boolean;
};

export const requirementsText = (requirements: readonly string[], indexes: readonly string[]): string =>
  ["# What was installed, in exact versions: see README.md.", ...indexes, ...requirements, ""].join("\n");

/** Versions are exact, so it doesn't matter which index has them. */
const sync = ({ hasIndexes }: Facts) =>
  `uv pip sync ${hasIndexes ? "--index-strategy unsafe-best-match " : ""}${fileNames.requirements}`;

export const dockerignore = `${[fileNames.variables, fileNames.history, ".venv"].join("\n")}\n`;

/** Builds an image that runs the server as an ordinary user. */
export function dockerfile(facts: Facts): string {
  const { document, requirements } = facts;
  const needsGit = requirements.some((line) => line.includes(" @ git+"));
  const data = document.settings.keepsData ? ["RUN mkdir /data && chown server /data", "VOLUME /data"] : [];
  return `${[
    `FROM python:${document.python}-slim`,
    "RUN pip install --no-cache-dir uv",
    ...(needsGit
      ? ["RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/*"]
      : []),
    "WORKDIR /server",
    `COPY ${fileNames.requirements} .`,
    `RUN uv venv && ${sync(facts)}`,
    "RUN useradd --create-home server",
    ...data,
    "COPY --chown=server . .",
    "USER server",
    "EXPOSE 8000",
    `CMD [".venv/bin/python", "${fileNames.runner}", "--listen", "0.0.0.0:8000"]`,
  ].join("\n")}\n`;
}

const callers = {
  "towpath-cloud": "Towpath let only members of the organization and its API keys call it",
  "towpath-public": "Towpath let anyone call it",
  passthrough: "Towpath left it to the server who may call it",
} as const;

function sourceText({ source }: Facts["document"]): string {
  if (source.kind === "package") return `version ${source.version} of the package ${source.name}`;
  const of = { repository: "the instance's repository", git: "", github: "the GitHub repository" }[source.kind];
  const name = source.kind === "git" ? source.url : source.kind === "github" ? source.fullName : source.name;
  return `commit ${source.commit} of ${[of, name].filter(Boolean).join(" ")} (branch ${source.branch})`;
}

const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");

export function readme(facts: Facts): string {
  const { document, surface, hasHistory } = facts;
  const { name, python, settings, source, variables } = document;
  const tools = surface?.tools.map(({ tool_name }) => tool_name) ?? [];
  const image = name.toLowerCase();
  const volume = settings.keepsData ? ` -v ${image}-data:/data` : "";
  const production = variables.filter(({ environments }) => environments.includes("production"));
  const history = hasHistory && source.kind !== "package" ? source : null;
  return `${[
    `# ${name}`,
    ...(settings.description === null ? [] : [settings.description]),
    `An MCP server, exported from Towpath at ${document.exportedAt}: ${sourceText(document)}.` +
      (tools.length > 0 ? ` Its tools: ${listed(tools)}.` : ""),
    "## Run it",
    "With [uv](https://docs.astral.sh/uv/), in this directory:",
    code(`uv venv --python ${python}`, sync(facts), `uv run --no-project python ${fileNames.runner}`),
    "It answers at `http://127.0.0.1:8000/mcp`, over streamable HTTP; `--listen HOST:PORT` chooses another address. With Docker:",
    code(`docker build -t ${image} .`, `docker run -p 127.0.0.1:8000:8000${volume} ${image}`),
    `**It checks no callers:** anyone who reaches the address can call it. ${callers[settings.authMode]}. Before you open it to a network, put a proxy in front that checks who calls.`,
    ...(settings.keepsData ? ["It keeps data in `/data`, which the export doesn't have."] : []),
    ...(production.length === 0
      ? []
      : [
          "## Variables",
          `It reads ${listed(production.map(({ keyName }) => keyName))} from its environment. Their values are not in the export, unless it has \`${fileNames.variables}\`: a JSON object with the value of each name, which is read at the start if it is in this directory. Keep it to yourself. An image never contains it: pass the values to a container with \`-e NAME=VALUE\`.`,
        ]),
    "## What is here",
    [
      `- \`${fileNames.source}/\`: the code as it was built`,
      `- \`${fileNames.requirements}\`: the exact version of each installed package`,
      `- \`${fileNames.installed}/\`, if the build made something of the server's own files: what it made`,
      `- \`${fileNames.runner}/\`: Towpath's harness, which finds the server in the code and serves it`,
      `- \`${fileNames.document}\`: what starts the server, its settings and the names of its variables`,
      `- \`${fileNames.surface}\`: its tools, resources and prompts`,
      ...(history === null
        ? []
        : [
            `- \`${fileNames.history}\`: the repository with its history: \`git clone -b ${history.branch} ${fileNames.history}\``,
          ]),
      `- \`${fileNames.sums}\`: the digest of each file: \`sha256sum --check ${fileNames.sums}\``,
    ].join("\n"),
    "Not exported: values of variables, API keys, domains, limits of calls, logs, lasting data, previews and earlier versions.",
    "## Bring it into another Towpath",
    code("./towpath import DIRECTORY"),
  ].join("\n\n")}\n`;
}

const code = (...lines: readonly string[]) => ["```sh", ...lines, "```"].join("\n");
