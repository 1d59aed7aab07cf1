import type { Read } from "../call/states.ts";
import { GatewayError } from "../gateway-error.ts";
import { isPageOfServer } from "../policy/browsers.ts";
import type { Policy } from "../policy/policy.ts";
import { hostOf, type ServerAddress } from "../route/server-address.ts";
import { type Html, html, sendPage } from "./html.ts";

// Servers that share a host have pages with opaque origins (`sandbox`), so that none acts as another. To a browser such
// a page is a different site than its host: its forms send no SameSite cookie, and nothing identifies the page. So the
// gateway shows a page of its own, which names the server that will get the form, and asks the person to continue. That
// page has the host's origin, so its request carries the server's cookies. No page of a server has this origin.

/**
 * Answers a form of a sandboxed page, whose origin is `null`, with a page that sends the same bytes to the same address
 * once the person agrees. The request must be a window's navigation. Refuses a form that cannot be sent again
 * unchanged: one with files, or in another encoding.
 */
export const formPolicy: Policy<{ readonly serverAddress: ServerAddress }, Read> = (parts, { call, body }) => {
  const { request, response, target } = call;
  if (hostOf(parts.serverAddress, target).form !== "path" || !isPageOfServer(call)) return "passed";
  if (request.method !== "POST" || request.headers.origin !== "null") return "passed";
  const text = body.toString("latin1");
  const fields = new URLSearchParams(text);
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "");
  if (!isForm || fields.toString() !== text) throw formNotPassed();
  sendPage(response, { title: `Continue to ${target.label}`, body: questionOf(target.label, [...fields]) });
  return "answered";
};

function questionOf(label: string, fields: readonly (readonly [string, string])[]): Html {
  const inputs = fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  // Without an action, a form goes to the address of its page: where the first one went.
  return html`<h1>Continue to ${label}?</h1>
<p>You sent a form to this server. It shares its address with other servers, so Towpath asks before it passes the form on.</p>
<p>If you did not just press a button on a page of ${label}, close this window.</p>
<form method="post">${inputs}<button class="primary" type="submit">Continue</button></form>`;
}

function formNotPassed(): GatewayError {
  return new GatewayError(
    "forbidden_origin",
    "This form cannot be passed on: the server shares its address with others, where only plain forms without files " +
      "work. Serve by host name instead (TOWPATH_SERVER_URL, see docs/sign-in.md).",
  );
}
