import { expect, test } from "vitest";
import { declaredVariables, filesWithVariables } from "./declared-variables.ts";

const namesIn = (files: Record<string, string>) => declaredVariables(new Map(Object.entries(files)));

test("ONB-12 BLD-2 variables are found in server.json, .env.example, a README's config block and the code", () => {
  const registry = { packages: [{ environmentVariables: [{ name: "WEATHER_KEY", isRequired: true }] }, {}] };
  const readme = `# Weather\n\`\`\`json\n{"mcpServers": {"weather": {"command": "uvx", "env": {"WEATHER_REGION": "eu"}}}}\n\`\`\``;
  const code = `import os
from pydantic_settings import BaseSettings, SettingsConfigDict

TOKEN = os.environ["API_TOKEN"]
URL = os.getenv('API_URL', "https://api.example")
LEVEL = os.environ.get("LOG_LEVEL")

class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="WEATHER_")

    database_url: str
    max_rows: int = 10

class Other:
    name: str
`;
  expect(
    namesIn({
      "server.json": JSON.stringify(registry),
      ".env.example": "# Ask a colleague\nAPI_TOKEN=\n# OPTIONAL_ONE=x\nPATH=/bin\n",
      "README.md": readme,
      "src/weather/config.py": code,
    }),
  ).toEqual([
    { name: "WEATHER_KEY", file: "server.json" },
    { name: "API_TOKEN", file: ".env.example" },
    { name: "OPTIONAL_ONE", file: ".env.example" },
    { name: "WEATHER_REGION", file: "README.md" },
    { name: "API_URL", file: "src/weather/config.py" },
    { name: "WEATHER_DATABASE_URL", file: "src/weather/config.py" },
    { name: "WEATHER_MAX_ROWS", file: "src/weather/config.py" },
  ]);
});

test("ONB-12 files with misleading names name no variables", () => {
  expect(
    namesIn({ "server.json": "{", "README.md": '"env": {}', ".env.example": "lower=1\n=2\n", "a.py": "" }),
  ).toEqual([]);
  expect(namesIn({ "server.json": '{"packages": 7}', ".env.example": "TOWPATH_CLOUD_URL=x" })).toEqual([]);
});

test("ONB-12 a few telling files are looked into, nearest to the root, and none of tests", () => {
  const paths = [
    "README.md",
    "src/demo/config.py",
    "tests/config.py",
    "src/demo/deep/settings.py",
    "server.py",
    "x.py",
  ];
  expect(filesWithVariables(paths, "")).toEqual([
    "README.md",
    "server.py",
    "src/demo/config.py",
    "src/demo/deep/settings.py",
  ]);
  expect(filesWithVariables(paths, "src/demo/")).toEqual(["src/demo/config.py", "src/demo/deep/settings.py"]);
  const many = Array.from({ length: 30 }, (_, at) => `package${at}/main.py`);
  expect(filesWithVariables(many, "")).toHaveLength(8);
});
