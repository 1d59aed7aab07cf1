import type { ClientGuide, GuideInput } from "./guide-types.ts";

/** Apps that connect from their maker's servers and take the URL in their settings. */
export function hostedGuides(input: GuideInput): ClientGuide[] {
  const { name, url, access } = input;
  const problem = reachabilityProblem(url);
  const note = (app: string) => {
    if (problem) return `${app} connects from the internet, and ${problem}`;
    return access.way === "key" ? `${app} takes no API keys: people sign in instead.` : null;
  };
  const signIn = access.way === "open" ? [] : ["Connect, and sign in to Towpath in the window that opens."];
  return [
    {
      id: "claude",
      label: "Claude",
      link: { label: "Open Claude's connectors", href: "https://claude.ai/settings/connectors" },
      steps: [
        "Choose Add custom connector. In a team, an owner does this once for everyone.",
        `Enter the name \`${name}\` and the URL \`${url}\`.`,
        ...signIn,
      ],
      snippet: null,
      note: note("Claude"),
    },
    {
      id: "chatgpt",
      label: "ChatGPT",
      link: { label: "Open ChatGPT's settings", href: "https://chatgpt.com/#settings/Connectors" },
      steps: [
        "Turn on developer mode under Apps & Connectors, Advanced settings.",
        `Choose Create. Enter the name \`${name}\` and the URL \`${url}\`, with ${
          access.way === "open" ? "no authentication" : "OAuth as the authentication"
        }.`,
        ...signIn,
      ],
      snippet: null,
      note: note("ChatGPT"),
    },
  ];
}

const privateHosts =
  /^(localhost|.*\.(localhost|local|internal|lan|test)|127\..*|10\..*|192\.168\..*|169\.254\..*|172\.(1[6-9]|2\d|3[01])\..*|\[(::1|f[cd].*|fe80.*)\])$/;

/** Why an app on the internet can't reach the URL, as the end of a sentence; null: no known reason. */
export function reachabilityProblem(url: string): string | null {
  const { hostname, protocol } = new URL(url);
  if (privateHosts.test(hostname)) return `\`${hostname}\` can only be reached from your network.`;
  if (protocol !== "https:") return "it accepts only https addresses.";
  return null;
}
