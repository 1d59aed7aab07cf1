import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { GatewayError } from "../gateway-error.ts";

// Where servers share a host, their pages have an origin of their own (`sandbox`), so that none acts as another. To the
// browser such a page is another site than the host: with its forms it sends no SameSite cookie, and nothing tells whose
// form it is. So the form is handed to the person, on a page of the gateway's that says which server gets it. That page
// has the host's origin, and what it sends arrives with the server's cookies. No other page has this origin.

type Sent = { request: IncomingMessage; response: ServerResponse; label: string; body: Buffer };

/**
 * Answers a form of a sandboxed page, whose origin is `null`, with a page that sends the same bytes to the same address
 * once the person has agreed. The request is the navigation of a window. False for every other request.
 *
 * @throws GatewayError 403 for a form that cannot be sent again unchanged: one with files, or in another encoding
 */
export function askToContinue({ request, response, label, body }: Sent): boolean {
  if (request.method !== "POST" || request.headers.origin !== "null") return false;
  const text = body.toString("latin1");
  const fields = new URLSearchParams(text);
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "");
  if (!isForm || fields.toString() !== text) throw formNotPassed();
  const page = Buffer.from(pageOf(label, [...fields]));
  response.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "content-length": page.length,
    "cache-control": "no-store",
    // No `form-action`: browsers apply it to the redirects that follow, which may lead to a client's own scheme.
    "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'`,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    // Not `no-referrer`, with which a form's Origin is `null` again.
    "referrer-policy": "same-origin",
  });
  response.end(page);
  return true;
}

const style = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;margin:0;min-height:100vh;display:grid;place-items:center;background:Canvas;color:CanvasText}
main{max-width:28rem;padding:1.5rem;overflow-wrap:anywhere}
h1{font-size:1.25rem;margin:0 0 .75rem}
p{margin:0 0 1rem}
button{font:inherit;font-weight:600;padding:.6rem 1.25rem;border:0;border-radius:.5rem;background:#1d4ed8;color:#fff;cursor:pointer}
button:hover{background:#1e40af}
button:focus-visible{outline:3px solid Highlight;outline-offset:2px}`;
const styleHash = createHash("sha256").update(style).digest("base64");

function pageOf(label: string, fields: readonly (readonly [string, string])[]): string {
  const inputs = fields.map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  // Without an action, a form is sent to the address of its page: where the first one went.
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Continue to ${escaped(label)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Continue to ${escaped(label)}?</h1>
<p>You sent a form to this server. It shares its address with other servers, so Towpath asks before it passes the form on.</p>
<p>If you did not just press a button on a page of ${escaped(label)}, close this window.</p>
<form method="post">${inputs.join("")}<button type="submit">Continue</button></form>
</main>
</body>
</html>
`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}

function formNotPassed(): GatewayError {
  return new GatewayError(
    "forbidden_origin",
    "This form cannot be passed on: the server shares its address with others, where only plain forms without files " +
      "work. Serve by host name instead (TOWPATH_SERVER_URL, see docs/sign-in.md).",
  );
}
