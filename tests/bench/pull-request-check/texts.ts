import type { BenchServer } from "./bench-server.ts";

const fox = "The quick brown fox jumps over the lazy dog. The dog sleeps! Does the fox care?";
const law =
  "Notwithstanding the aforementioned obligations, the undersigned party irrevocably relinquishes all entitlements.";
const short = "It is late.";

export const texts: BenchServer = {
  name: "texts",
  calls: [
    ...[fox, law, short, "12345"].map((text) => ["analyze", { text }] as const),
    ["analyze", { text: fox, top: 6 }],
    ...[fox, law, short, "?!"].map((text) => ["readability", { text }] as const),
    ["compare_texts", { one: fox, other: "A lazy fox sleeps over the brown dog." }],
    ["compare_texts", { one: law, other: fox }],
    ["compare_texts", { one: short, other: short }],
  ],
  questions: [
    "Count the words and sentences of this text: It is late.",
    "How easy is this text to read, from 0 to 100?",
    "Which words do these two texts share?",
  ],
  faults: [
    {
      what: "arguments one and other renamed",
      change: [
        ["def compare_texts(one: str, other: str)", "def compare_texts(left: str, right: str)"],
        ["set(words_of(one)), set(words_of(other))", "set(words_of(left)), set(words_of(right))"],
      ],
    },
    { what: "reading time in minutes, still called seconds", change: [["/ 238 * 60, 1)", "/ 238, 1)"]] },
    {
      what: "sentences counted by full stops only",
      change: [
        [
          'sentences = max(1, len(re.findall(r"[.!?]+", text)))\n    counted',
          'sentences = max(1, text.count("."))\n    counted',
        ],
      ],
    },
    {
      what: "similarity in percent",
      change: [["round(len(a & b) / len(a | b), 3)", "round(100 * len(a & b) / len(a | b), 1)"]],
    },
    {
      what: "an empty result in place of an error",
      change: [['        raise ToolError("The text has no words. Give at least one.")\n', '        return ["none"]\n']],
    },
    {
      what: "most used words with the common ones",
      change: [["Counter(word for word in words if word not in COMMON)", "Counter(words)"]],
    },
  ],
  harmless: [
    {
      what: "pattern compiled once",
      change: [
        ["COMMON = {", 'WORD = re.compile(r"[a-z\']+")\nCOMMON = {'],
        ['re.findall(r"[a-z\']+", text.lower())', "WORD.findall(text.lower())"],
      ],
    },
    {
      what: "vocabulary without a comprehension",
      change: [["list({word for word in words})", "list(set(words))"]],
    },
    { what: "id of the same form", change: [["secrets.token_hex(6)", "__import__('uuid').uuid4().hex[:12]"]] },
    {
      what: "time by another clock",
      change: [
        ["begun = time.perf_counter()", "begun = time.monotonic_ns()"],
        ["round((time.perf_counter() - begun) * 1e6)", "(time.monotonic_ns() - begun) // 1000"],
      ],
    },
    {
      what: "counts the syllables once",
      change: [
        ["    ease = 206.835", "    total = sum(map(syllables, words))\n    ease = 206.835"],
        ["84.6 * sum(map(syllables, words)) / len(words)", "84.6 * total / len(words)"],
      ],
    },
    {
      what: "new fields",
      change: [
        [
          '        "words": len(words),\n',
          '        "words": len(words),\n        "letters": sum(map(len, words)),\n        "language": None,\n',
        ],
      ],
    },
    {
      what: "new optional argument",
      change: [["def readability(text: str) -> str:", 'def readability(text: str, formula: str = "flesch") -> str:']],
    },
    {
      what: "in a thread",
      change: [
        ["def compare_texts(", "async def compare_texts("],
        [
          "    a, b = set(words_of(one)), set(words_of(other))\n",
          "    import asyncio\n    a, b = await asyncio.gather(*(asyncio.to_thread(lambda t=t: set(words_of(t))) for t in (one, other)))\n",
        ],
      ],
    },
    {
      what: "description with an example",
      change: [
        [
          "Rate how easy a text is to read, from 0 to 100.",
          "Rate how easy a text is to read, from 0 (a contract) to 100 (a comic).",
        ],
      ],
    },
    {
      what: "sum in place of a division",
      change: [["round(len(words) / sentences, 2)", "round(sum(1 for _ in words) / sentences, 2)"]],
    },
  ],
};
