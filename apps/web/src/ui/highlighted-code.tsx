import { toJsxRuntime } from "hast-util-to-jsx-runtime";
import bash from "highlight.js/lib/languages/bash";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import sql from "highlight.js/lib/languages/sql";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import { Fragment, jsx, jsxs } from "react/jsx-runtime";

const lowlight = createLowlight({ bash, javascript, json, python, sql, xml, yaml });
lowlight.registerAlias({ bash: ["sh", "shell", "console"], javascript: ["js", "ts", "typescript", "jsx", "tsx"] });
lowlight.registerAlias({ python: ["py"], xml: ["html"], yaml: ["yml"] });

/** Longer code is not colored: the highlighter runs while text streams in. */
const maxLength = 20_000;

/** Code in a few colors; as it is in a language that is not known. Never becomes HTML. */
export function HighlightedCode({ code, language }: { code: string; language: string | null }) {
  if (language === null || !lowlight.registered(language) || code.length > maxLength) return code;
  return toJsxRuntime(lowlight.highlight(language, code), { Fragment, jsx, jsxs });
}
