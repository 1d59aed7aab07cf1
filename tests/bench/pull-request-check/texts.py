"""Statistics of texts: counts, readability, comparison."""

import re
import secrets
import time
from collections import Counter

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("texts")
COMMON = {"the", "a", "an", "of", "and", "to", "in", "is", "it"}


def words_of(text: str) -> list[str]:
    words = re.findall(r"[a-z']+", text.lower())
    if not words:
        raise ToolError("The text has no words. Give at least one.")
    return words


def syllables(word: str) -> int:
    return max(1, len(re.findall(r"[aeiouy]+", word)))


@mcp.tool
def analyze(text: str, top: int = 3) -> dict:
    """Count the words, sentences and characters of a text."""
    begun = time.perf_counter()
    words = words_of(text)
    sentences = max(1, len(re.findall(r"[.!?]+", text)))
    counted = Counter(word for word in words if word not in COMMON)
    return {
        "analysis": secrets.token_hex(6),
        "characters": len(text),
        "words": len(words),
        "sentences": sentences,
        "words_per_sentence": round(len(words) / sentences, 2),
        "reading_seconds": round(len(words) / 238 * 60, 1),
        "most_used": [{"word": word, "count": count} for word, count in counted.most_common(top)],
        "vocabulary": list({word for word in words}),
        "took_us": round((time.perf_counter() - begun) * 1e6),
    }


@mcp.tool
def readability(text: str) -> str:
    """Rate how easy a text is to read, from 0 to 100."""
    words = words_of(text)
    sentences = max(1, len(re.findall(r"[.!?]+", text)))
    ease = 206.835 - 1.015 * len(words) / sentences - 84.6 * sum(map(syllables, words)) / len(words)
    level = "easy" if ease > 70 else "plain" if ease > 50 else "difficult"
    longest = max(words, key=len)
    return f"Reading ease: {ease:.1f} ({level})\nLongest word: {longest}\nSyllables: {sum(map(syllables, words))}"


@mcp.tool
def compare_texts(one: str, other: str) -> dict:
    """Compare two texts by the words that they share."""
    a, b = set(words_of(one)), set(words_of(other))
    return {"similarity": round(len(a & b) / len(a | b), 3), "shared": sorted(a & b), "only_one": sorted(a - b)}
