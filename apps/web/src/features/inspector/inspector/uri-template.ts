import { parseTemplate } from "url-template";

type TemplateVariable = {
  readonly name: string;
  /** Query variables may be omitted; all others are part of the path. */
  readonly optional: boolean;
  /** Takes several path segments. */
  readonly wildcard: boolean;
};

/** The variables of a URI template (RFC 6570) in their order, each once. */
export function templateVariables(template: string): TemplateVariable[] {
  const found = new Map<string, TemplateVariable>();
  for (const [, operator = "", list = ""] of template.matchAll(/\{([+#./;?&]?)([^{}]*)\}/g)) {
    for (const part of list.split(",")) {
      const [, name, modifier] = /^([\w.%-]+)(\*|:\d{1,4})?$/.exec(part.trim()) ?? [];
      if (name === undefined || found.has(name)) continue;
      found.set(name, { name, optional: operator === "?" || operator === "&", wildcard: modifier === "*" });
    }
  }
  return [...found.values()];
}

/** Expands a template. Omits variables without a value, as the RFC says, and empty query variables. */
export function expandTemplate(template: string, values: Readonly<Record<string, string>>): string {
  const context: Record<string, string | string[]> = Object.create(null);
  for (const { name, optional, wildcard } of templateVariables(template)) {
    const value = Object.hasOwn(values, name) ? values[name]?.toWellFormed() : undefined;
    if (value === undefined || (value === "" && optional)) continue;
    context[name] = wildcard ? value.split("/") : value;
  }
  // FastMCP's `/{path*}` keeps slashes; the RFC writes that as `{/path*}`.
  return parseTemplate(template.replace(/\/\{([\w.%-]+)\*\}/g, "{/$1*}")).expand(context);
}
