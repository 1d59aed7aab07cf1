import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Button, type ButtonProps } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { toast } from "./toast.ts";
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
        className={classNames(squares[size], className)}
        {...rest}
      >
        {children}
      </Button>
    </Tooltip>
  );
}

type CopyButtonProps = {
  text: string | (() => string);
  label?: string;
  className?: string;
};

/** Copies `text`, and confirms it for two seconds. `label`: names the copied text, such as "Copy URL". */
export function CopyButton({ text, label = "Copy", className }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setCopied(true);
    } catch {
      toast.error("The browser didn't allow copying. Select the text and copy it yourself.");
    }
  };

  return (
    <IconButton label={copied ? "Copied" : label} size="sm" onClick={copy} className={className}>
      {copied ? <Check className="text-ok" /> : <Copy />}
    </IconButton>
  );
}
