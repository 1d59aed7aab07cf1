export type SocialCard = {
  readonly title: string;
  readonly description: string;
  /** Small line above the title. */
  readonly label: string;
  /** Small line at the bottom: where this is. */
  readonly footer: string;
  /** CSS color `#rrggbb`. */
  readonly color: string;
};

/** Letters that the bundled fonts have. Others would be boxes. */
const unknown = /[^\p{Script=Latin}\p{Script=Cyrillic}\p{Nd}\p{P}\p{Zs}$+<=>|~^`©®°±×÷€£]/gu;

/** Text in one line, with only characters that the fonts have, at most `max` of them. */
function plain(text: string, max: number): string {
  const line = text.replace(unknown, "").replace(/\s+/g, " ").trim();
  return line.length > max ? `${line.slice(0, max - 1).trimEnd()}…` : line;
}

/**
 * The picture of link previews, 1200 × 630: text above a canal. Laid out by takumi, which only supports inline styles.
 */
export function SocialCardImage({ title, description, label, footer, color }: SocialCard) {
  const heading = plain(title, 90);
  return (
    <div style={{ ...page, backgroundColor: "#f8fafa" }}>
      <div style={{ ...row, gap: 18 }}>
        <Mark color={color} />
        <span style={{ fontSize: 34, fontWeight: 600, letterSpacing: "-0.03em" }}>towpath</span>
        <span style={{ fontSize: 26, color: "#5a686d", marginLeft: 14 }}>{plain(label, 50)}</span>
      </div>
      <div style={{ ...column, gap: 22, marginTop: 62 }}>
        <span style={{ ...text, fontSize: heading.length > 44 ? 62 : 78, fontWeight: 600, lineHeight: 1.08 }}>
          {heading}
        </span>
        <span style={{ ...text, fontSize: 31, lineHeight: 1.38, color: "#4c5a60" }}>{plain(description, 150)}</span>
      </div>
      <Canal color={color} footer={plain(footer, 64)} />
    </div>
  );
}

const column = { display: "flex", flexDirection: "column" } as const;
const row = { display: "flex", alignItems: "center" } as const;
const text = { letterSpacing: "-0.02em", overflow: "hidden" } as const;
const frame = { width: 1200, height: 630, padding: "58px 76px", position: "relative" } as const;
const page = { ...column, ...frame, color: "#17252b", fontFamily: "Geist" } as const;

/** Two banks, and the gates between them. */
function Mark({ color }: { readonly color: string }) {
  const bar = {
    position: "absolute",
    width: 5,
    height: 32,
    top: 12,
    borderRadius: 3,
    backgroundColor: "#fff",
  } as const;
  const gate = { position: "absolute", width: 17, height: 5, borderRadius: 3, backgroundColor: "#fff" } as const;
  return (
    <div
      style={{ display: "flex", position: "relative", width: 56, height: 56, borderRadius: 14, backgroundColor: color }}
    >
      <div style={{ ...bar, left: 13 }} />
      <div style={{ ...bar, left: 38 }} />
      <div style={{ ...gate, left: 15, top: 22, transform: "rotate(-34deg)" }} />
      <div style={{ ...gate, left: 24, top: 22, transform: "rotate(34deg)" }} />
      <div style={{ ...gate, left: 15, top: 36, opacity: 0.55, transform: "rotate(-34deg)" }} />
      <div style={{ ...gate, left: 24, top: 36, opacity: 0.55, transform: "rotate(34deg)" }} />
    </div>
  );
}

/** Two water levels with a gate between them, and a boat on the upper one. */
function Canal({ color, footer }: { readonly color: string; readonly footer: string }) {
  const at = (left: number, top: number, width: number, height: number) =>
    ({ position: "absolute", left, top, width, height }) as const;
  return (
    <div style={{ ...at(0, 460, 1200, 170), display: "flex" }}>
      <div style={{ ...at(0, 84, 760, 86), backgroundColor: color, opacity: 0.16 }} />
      <div style={{ ...at(0, 82, 760, 3), backgroundColor: color }} />
      <div style={{ ...at(760, 44, 440, 126), backgroundColor: color, opacity: 0.26 }} />
      <div style={{ ...at(760, 42, 440, 3), backgroundColor: color }} />
      <div style={{ ...at(750, 8, 20, 162), backgroundColor: "#17252b", borderRadius: 4 }} />
      <div style={{ ...at(664, 8, 106, 11), backgroundColor: "#17252b", borderRadius: 6 }} />
      <div style={{ ...at(900, 22, 196, 38), backgroundColor: "#17252b", borderRadius: "4px 4px 18px 18px" }} />
      <div style={{ ...at(934, -8, 112, 30), backgroundColor: color, borderRadius: 6 }} />
      {[946, 972, 998, 1022].map((left) => (
        <div key={left} style={{ ...at(left, 0, 16, 13), backgroundColor: "#f2fbfb", borderRadius: 2 }} />
      ))}
      <span style={{ ...at(76, 110, 660, 40), fontSize: 25, color: "#17252b" }}>{footer}</span>
    </div>
  );
}
