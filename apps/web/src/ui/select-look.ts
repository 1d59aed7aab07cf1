import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";
import { controlLook } from "./control-look.ts";

export type SelectOption<Value extends string> = {
  value: Value;
  label: string;
  /** Shown at the end of the row, for example a count. */
  detail?: ReactNode;
  /** Options of the same group are listed together under its name. */
  group?: string;
};

export type SelectProps<Value extends string> = {
  value: Value | null;
  onChange: (value: Value) => void;
  options: readonly SelectOption<Value>[];
  className?: string;
  placeholder?: string;
  disabled?: boolean;
  prefix?: ReactNode;
  id?: string;
  required?: boolean;
  "aria-label"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
};

/** Of its button, opened or not. */
export const selectLook = (className: string | undefined) =>
  classNames(controlLook, "flex h-8 w-full items-center gap-2 px-2.5 text-left", className);
