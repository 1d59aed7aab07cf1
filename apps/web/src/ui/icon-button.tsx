import type { ReactNode } from "react";
import { Button, type ButtonProps } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { Tooltip } from "./tooltip.tsx";

const squares = { sm: "size-7 px-0", md: "size-8 px-0", lg: "size-10 px-0", inline: "" };

/** A button that shows only an icon. `label` is its accessible name and its tooltip. */
export function IconButton({
  label,
  children,
  size = "md",
  variant = "ghost",
  className,
  ...rest
}: Omit<ButtonProps, "children" | "icon" | "aria-label"> & { label: string; children: ReactNode }) {
  return (
    <Tooltip content={label}>
      <Button
        aria-label={label}
        size={size}
        variant={variant}
        className={classNames(squares[size ?? "md"], className)}
        {...rest}
      >
        {children}
      </Button>
    </Tooltip>
  );
}
