// RFC 6570, as far as MCP servers use it: every operator, explode and prefix modifiers, values that are texts.

type Operator = { first: string; separator: string; named: boolean; reserved: boolean; emptyName: string };

const operators: Record<string, Operator> = {
  "": { first: "", separator: ",", named: false, reserved: false, emptyName: "" },
  "+": { first: "", separator: ",", named: false, reserved: true, emptyName: "" },
  "#": { first: "#", separator: ",", named: false, reserved: true, emptyName: "" },
  ".": { first: ".", separator: ".", named: false, reserved: false, emptyName: "" },
  "/": { first: "/", separator: "/", named: false, reserved: false, emptyName: "" },
  ";": { first: ";", separator: ";", named: true, reserved: false, emptyName: "" },
  "?": { first: "?", separator: "&", named: true, reserved: false, emptyName: "=" },
  "&": { first: "&", separator: "&", named: true, reserved: false, emptyName: "=" },
};

const expression = /\{([+#./;?&]?)([^{}]*)\}/g;

export type TemplateVariable = {
  readonly name: string;
  /** Query variables may be left out; all others are part of the path. */
  readonly optional: boolean;
  /** Takes several path segments. */
  readonly wildcard: boolean;
};

type Spec = { name: string; explode: boolean; prefix: number | null };

function specsOf(list: string): Spec[] {
  return list
    .split(",")
    .map((part) => /^([\w.%-]+)(\*|:(\d{1,4}))?$/.exec(part.trim()))
    .filter((match) => match !== null)
    .map((match) => ({
      name: match[1] ?? "",
      explode: match[2] === "*",
      prefix: match[3] === undefined ? null : Number(match[3]),
    }));
}

/** The variables of a URI template in their order, each once. */
export function templateVariables(template: string): TemplateVariable[] {
  const found = new Map<string, TemplateVariable>();
  for (const [, operator = "", list = ""] of template.matchAll(expression)) {
    for (const { name, explode } of specsOf(list)) {
      if (!found.has(name)) {
        found.set(name, { name, optional: operator === "?" || operator === "&", wildcard: explode });
      }
    }
  }
  return [...found.values()];
}

function encode(value: string, keep: RegExp): string {
  return [...value].map((character) => (keep.test(character) ? character : percent(character))).join("");
}

const percent = (character: string) =>
  encodeURIComponent(character.isWellFormed() ? character : "\ufffd").replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const unreserved = /[\w.~-]/;
const unreservedOrReserved = /[\w.~\-:/?#[\]@!$&'()*+,;=]/;
/** FastMCP's `{path*}` takes slashes as they are. */
const unreservedOrSlash = /[\w.~\-/]/;

/** Fills a template. Variables without a value are left out, as the RFC says. */
export function expandTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(expression, (_whole, symbol: string, list: string) => {
    const operator = operators[symbol] ?? operators[""];
    if (!operator) return "";
    const parts = specsOf(list).flatMap((spec) => {
      const value = Object.hasOwn(values, spec.name) ? values[spec.name] : undefined;
      if (value === undefined || (value === "" && operator.emptyName === "=")) return [];
      const keep = operator.reserved ? unreservedOrReserved : spec.explode ? unreservedOrSlash : unreserved;
      const encoded = encode(spec.prefix === null ? value : [...value].slice(0, spec.prefix).join(""), keep);
      if (!operator.named) return [encoded];
      return [encoded === "" ? `${spec.name}${operator.emptyName}` : `${spec.name}=${encoded}`];
    });
    return parts.length === 0 ? "" : operator.first + parts.join(operator.separator);
  });
}
