import { expect, test } from "vitest";
import { caddyfileOf } from "./caddyfile.ts";
import { readHttpsConfig } from "./https-config.ts";

const behind = { web: "127.0.0.1:3000", gateway: "127.0.0.1:8080", adminSocket: "/srv/towpath/run/caddy.sock" };

const configOf = (environment: Readonly<Record<string, string>>) => {
  const config = readHttpsConfig(environment);
  if (config === null) throw new Error("the settings name no domain");
  return config;
};

test("OPS-12 Caddy serves the dashboard at the domain, asks the gateway for all other names, and redirects HTTP", () => {
  expect(caddyfileOf(configOf({ TOWPATH_DOMAIN: "Towpath.Example.com" }), behind)).toBe(
    `# Written by \`towpath up\` at each start.
{
	admin "unix//srv/towpath/run/caddy.sock"
	http_port 80
	https_port 443
	grace_period 4s
	on_demand_tls {
		ask http://127.0.0.1:8080/-/certificate
	}
	servers {
		protocols h1 h2 h3
		timeouts {
			read_header 30s
		}
	}
}

towpath.example.com {
	reverse_proxy 127.0.0.1:3000 {
		flush_interval -1
		lb_try_duration 15s
		lb_try_interval 100ms
	}
}

https:// {
	tls {
		on_demand
	}
	reverse_proxy 127.0.0.1:8080 {
		flush_interval -1
		lb_try_duration 15s
		lb_try_interval 100ms
	}
}

http:// {
	redir https://{host}{uri} 308
}
`,
  );
});

test("OPS-12 another address, other ports and another certificate authority; HTTP/3 only on port 443", () => {
  const config = configOf({
    TOWPATH_DOMAIN: "towpath.test",
    TOWPATH_HTTPS_HOST: "127.0.0.1",
    TOWPATH_HTTP_PORT: "5080",
    TOWPATH_HTTPS_PORT: "5443",
    TOWPATH_ACME_DIRECTORY: "https://localhost:14000/dir",
    TOWPATH_ACME_CA: import.meta.filename,
  });
  const lines = caddyfileOf(config, behind).split("\n");
  expect(lines.slice(2, 9).map((line) => line.trim())).toEqual([
    'admin "unix//srv/towpath/run/caddy.sock"',
    "http_port 5080",
    "https_port 5443",
    "default_bind 127.0.0.1",
    "grace_period 4s",
    "acme_ca https://localhost:14000/dir",
    `acme_ca_root "${import.meta.filename}"`,
  ]);
  expect(lines).toContain("\t\tprotocols h1 h2");
});

test("OPS-12 all wrong settings of HTTPS are listed at once, and without a domain there are none", () => {
  expect(readHttpsConfig({ TOWPATH_DOMAIN: "", TOWPATH_HTTPS_PORT: "x" })).toBeNull();
  const read = () =>
    readHttpsConfig({
      TOWPATH_DOMAIN: "https://example.com",
      TOWPATH_HTTPS_HOST: "localhost",
      TOWPATH_HTTP_PORT: "0",
      TOWPATH_HTTPS_PORT: "x",
      TOWPATH_ACME_DIRECTORY: "http://ca.example.com/dir",
      TOWPATH_ACME_CA: "/nowhere.pem",
    });
  expect(read).toThrow(
    [
      "These settings need attention:",
      "  TOWPATH_DOMAIN must be a domain such as towpath.example.com, without https:// and without a port",
      "  TOWPATH_HTTPS_HOST must be an IP address",
      "  TOWPATH_HTTP_PORT must be a port",
      "  TOWPATH_HTTPS_PORT must be a port",
      "  TOWPATH_ACME_DIRECTORY must be an https URL",
      "  TOWPATH_ACME_CA names a file that can't be read",
    ].join("\n"),
  );
  for (const name of [
    "localhost",
    "10.0.0.1",
    "a..b",
    "-a.example.com",
    `${"a".repeat(64)}.com`,
    "a_b.example.com",
    "x.com:443",
  ])
    expect(() => readHttpsConfig({ TOWPATH_DOMAIN: name }), name).toThrow("TOWPATH_DOMAIN must be a domain");
});
