import { type ComponentProps, createElement } from "react";

/** Tag and attributes of one of an icon's shapes. */
export type IconShape = readonly [tag: string, attributes: Readonly<Record<string, string>>];

const drawn = {
  xmlns: "http://www.w3.org/2000/svg",
  width: "24",
  height: "24",
  viewBox: "0 0 24 24",
  fill: "none",
  stroke: "currentColor",
  strokeWidth: "2",
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;

const naming = ["aria-label", "aria-labelledby", "role", "title"] as const;

/**
 * The component of a Lucide icon in a build, where it replaces the package's own, which is eight times as large: see
 * `vite/light-icons.ts`. `path`: of all lines; `shapes`: the others. Hidden from screen readers unless it has a name.
 *
 * @public
 */
// biome-ignore-start lint/correctness/noComponentHookFactories: called once for each icon, by its module
export const icon = (path: string, shapes: readonly IconShape[] = []) =>
  function Icon({ children, ...props }: ComponentProps<"svg">) {
    const isNamed = naming.some((attribute) => attribute in props);
    return createElement(
      "svg",
      { ...drawn, "aria-hidden": isNamed ? undefined : true, ...props },
      path && createElement("path", { d: path }),
      ...shapes.map(([tag, attributes]) => createElement(tag, attributes)),
      children,
    );
  };
// biome-ignore-end lint/correctness/noComponentHookFactories: see above
