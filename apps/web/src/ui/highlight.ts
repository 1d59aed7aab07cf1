import bash from "highlight.js/lib/languages/bash";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import sql from "highlight.js/lib/languages/sql";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

/** Highlights code in the browser and in the site's build. The colors of its classes are in `prose.css`. */
export const lowlight = createLowlight({ bash, javascript, json, python, sql, xml, yaml });
lowlight.registerAlias({ bash: ["sh", "shell", "console"], javascript: ["js", "ts", "typescript", "jsx", "tsx"] });
lowlight.registerAlias({ python: ["py"], xml: ["html"], yaml: ["yml"] });
