/** Third-party services on the pages, all off unless the operator configures them (ERR-6). */
export type ThirdParties = {
  /** A Sentry-compatible service. */
  readonly errorReporting: ErrorReportingSettings | null;
  readonly analytics: { readonly script: string; readonly attributes: Readonly<Record<string, string>> } | null;
};

export type ErrorReportingSettings = { readonly dsn: string; readonly environment: string };

/**
 * For the document's head, before its other scripts; null when nothing is configured. Gives the browser the settings of
 * error reporting, and adds the analytics tag with the nonce of its own script.
 */
export function thirdPartyScript({ errorReporting, analytics }: ThirdParties): string | null {
  const parts = [
    errorReporting && `globalThis.towpathErrorReporting=${literal(errorReporting)}`,
    analytics && analyticsScript(analytics),
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : `(()=>{${parts.join(";")}})()`;
}

const analyticsScript = ({ script, attributes }: NonNullable<ThirdParties["analytics"]>) =>
  `const tag=document.createElement("script");tag.defer=true;tag.nonce=document.currentScript.nonce;` +
  `for(const [name,value] of Object.entries(${literal(attributes)}))tag.setAttribute(name,value);` +
  `tag.src=${literal(script)};document.head.append(tag)`;

/** JSON that can't end its script element. */
const literal = (value: unknown) => JSON.stringify(value).replaceAll("<", "\\u003c");

/** Their additions to the content security policy, by directive. */
export function thirdPartySources({ errorReporting, analytics }: ThirdParties) {
  const analyticsOrigin = analytics ? [new URL(analytics.script).origin] : [];
  const reportingOrigin = errorReporting ? [new URL(errorReporting.dsn).origin] : [];
  return {
    scripts: analyticsOrigin,
    connections: [...new Set([...reportingOrigin, ...analyticsOrigin])],
    // The replay library compresses in a worker made from a blob.
    workers: errorReporting ? ["'self'", "blob:"] : [],
  };
}
