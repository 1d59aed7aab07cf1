import type { ClientGuide, GuideInput } from "./guide-types.ts";
import { inQuotes, json, shellWord } from "./quoting.ts";

const variable = "TOWPATH_API_KEY";
const inTerminal = "Run in a terminal:";

/** Agents of the terminal, and the bridge for clients that speak only stdio. */
export function terminalGuides(input: GuideInput): ClientGuide[] {
  return [claudeCode(input), codex(input), geminiCli(input), stdioBridge(input)];
}

function claudeCode({ name, url, access, headers }: GuideInput): ClientGuide {
  const header = headers ? ` \\\n  --header ${inQuotes(`Authorization: ${headers.Authorization}`)}` : "";
  return {
    id: "claude-code",
    label: "Claude Code",
    link: null,
    steps: [],
    snippet: {
      place: inTerminal,
      code: `claude mcp add --transport http ${shellWord(name)} ${shellWord(url)}${header}`,
    },
    note: access.way === "sign-in" ? "Then enter `/mcp` in Claude Code, choose the server, and sign in." : null,
  };
}

function codex({ name, url, access }: GuideInput): ClientGuide {
  const add = `codex mcp add ${shellWord(name)} --url ${shellWord(url)}`;
  const code = {
    open: add,
    "sign-in": `${add}\ncodex mcp login ${shellWord(name)}`,
    key: `export ${variable}=${shellWord(access.way === "open" ? "" : access.key)}\n${add} \\\n  --bearer-token-env-var ${variable}`,
  };
  return {
    id: "codex",
    label: "Codex",
    link: null,
    steps: [],
    snippet: { place: inTerminal, code: code[access.way] },
    note:
      access.way === "key"
        ? `Codex reads the key from \`${variable}\` each time it starts: set it in your profile.`
        : null,
  };
}

function geminiCli({ name, url, access, headers }: GuideInput): ClientGuide {
  const header = headers ? ` \\\n  --header ${inQuotes(`Authorization: ${headers.Authorization}`)} \\\n ` : "";
  return {
    id: "gemini-cli",
    label: "Gemini CLI",
    link: null,
    steps: [],
    snippet: {
      place: inTerminal,
      code: `gemini mcp add --scope user --transport http${header} ${shellWord(name)} ${shellWord(url)}`,
    },
    note: access.way === "sign-in" ? `Then enter \`/mcp auth ${name}\` in Gemini CLI, and sign in.` : null,
  };
}

function stdioBridge({ name, url, headers }: GuideInput): ClientGuide {
  const args = ["-y", "mcp-remote", url, ...(headers ? ["--header", `Authorization:${headers.Authorization}`] : [])];
  return {
    id: "stdio",
    label: "Any other",
    link: null,
    steps: [],
    snippet: {
      place: "For clients that only start programs: `mcp-remote` (needs Node) passes their messages on.",
      code: json({ mcpServers: { [name]: { command: "npx", args } } }),
    },
    note: "Clients that take a URL need nothing else.",
  };
}
