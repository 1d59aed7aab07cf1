import { type ClientGuide, type GuideInput, placeholderKey } from "./guide-types.ts";
import { base64Json, json } from "./quoting.ts";

const variable = "TOWPATH_API_KEY";

/** Editors and desktop apps with their own configuration files and links. */
export function editorGuides(input: GuideInput): ClientGuide[] {
  return [cursor(input), vscode(input), windsurf(input), lmStudio(input)];
}

function cursor({ name, url, headers }: GuideInput): ClientGuide {
  const linked = { url, ...(headers && { headers: { Authorization: `Bearer \${env:${variable}}` } }) };
  return {
    id: "cursor",
    label: "Cursor",
    link: {
      label: "Add to Cursor",
      href: `cursor://anysphere.cursor-deeplink/mcp/install?name=${encodeURIComponent(name)}&config=${base64Json(linked)}`,
    },
    steps: [],
    snippet: {
      place: "Or add to `~/.cursor/mcp.json`, or to a project's `.cursor/mcp.json`:",
      code: json({ mcpServers: { [name]: { url, ...(headers && { headers }) } } }),
    },
    note: headers && `The button carries no key: Cursor reads it from the environment variable \`${variable}\`.`,
  };
}

function vscode({ name, url, headers }: GuideInput): ClientGuide {
  const id = "towpath-api-key";
  const server = { type: "http", url, ...(headers && { headers: { Authorization: `Bearer \${input:${id}}` } }) };
  const inputs = [{ type: "promptString", id, description: `API key for ${name}`, password: true }];
  const linked = { name, ...server, ...(headers && { inputs }) };
  return {
    id: "vscode",
    label: "VS Code",
    link: {
      label: "Add to VS Code",
      href: `vscode:mcp/install?${encodeURIComponent(JSON.stringify(linked))}`,
    },
    steps: [],
    snippet: {
      place: "Or add to a workspace's `.vscode/mcp.json`:",
      code: json({ servers: { [name]: server }, ...(headers && { inputs }) }),
    },
    note: headers && "VS Code asks for the key when it first connects, and keeps it outside of the file.",
  };
}

function windsurf({ name, url, headers }: GuideInput): ClientGuide {
  return {
    id: "windsurf",
    label: "Windsurf",
    link: null,
    steps: [],
    snippet: {
      place: "Add to `~/.codeium/windsurf/mcp_config.json`, then refresh the list of MCP servers:",
      code: json({ mcpServers: { [name]: { serverUrl: url, ...(headers && { headers }) } } }),
    },
    note: null,
  };
}

function lmStudio({ name, url, key }: GuideInput): ClientGuide {
  const entry = (of: string) => ({ url, ...(key && { headers: { Authorization: `Bearer ${of}` } }) });
  return {
    id: "lm-studio",
    label: "LM Studio",
    link: {
      label: "Add to LM Studio",
      href: `lmstudio://add_mcp?name=${encodeURIComponent(name)}&config=${base64Json(entry(placeholderKey))}`,
    },
    steps: [],
    snippet: {
      place: "Or add to `mcp.json` (Program, Install, Edit mcp.json):",
      code: json({ mcpServers: { [name]: entry(key ?? "") } }),
    },
    note: key && `LM Studio needs an API key. The button leaves \`${placeholderKey}\` in its place: put yours there.`,
  };
}
