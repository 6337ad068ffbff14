import { readFileSync } from "node:fs"
import { freePort } from "../peers/support/MailRig.ts"
import type { PeerRoot } from "../peers/support/PeerRoot.ts"

const page = readFileSync(new URL("../../packages/site/content/proxies.md", import.meta.url), "utf8")

/** Returns the configuration in the section of the page with this heading. */
const configurationOf = (heading: string, { silenceSeconds }: Partial<Place> = {}): string => {
  const [, section = ""] = page.split(`\n## ${heading}\n`)
  const [, configuration] = section.split("\n```\n")
  if (configuration === undefined) throw new Error(`the page has no configuration of ${heading}`)
  if (silenceSeconds === undefined) return configuration
  return configuration.replaceAll("60s", `${silenceSeconds}s`).replaceAll("timeout=60", `timeout=${silenceSeconds}`)
}

/** Returns the text with a part replaced wherever it is; fails if it is nowhere. */
const replaced = (text: string, part: string | RegExp, value: string): string => {
  const changed = text.replaceAll(part, value)
  if (changed === text) throw new Error(`the configuration has no ${String(part)}:\n${text}`)
  return changed
}

export interface Place {
  /** The port on which the proxy listens, and that of the server. */
  readonly own: number
  readonly server: number
  /** Replaces the time after which the page lets a silent connection be closed. */
  readonly silenceSeconds?: number
}

/** A proxy in front of a server, with the configuration of the page but for addresses and certificates. */
export interface Proxy {
  readonly name: string
  /** Writes the configuration and returns the command that runs it in the foreground. */
  readonly prepare: Prepare
  /** Whether it sends a body that has come without a length with its length. */
  readonly measuresBodies?: boolean
  /** The same with a cache; undefined if the page shows none. */
  readonly cached?: Prepare
}

export type Prepare = (root: PeerRoot, place: Place, certificate: string) => Promise<ReadonlyArray<string>>

const serverAddress = (text: string, { server }: Place): string =>
  replaced(text, "127.0.0.1:8080", `127.0.0.1:${server}`)

const certificatePaths = (text: string, certificate: string): string =>
  replaced(text, /\/etc\/ssl\/agentos\/[a-z-]+\.pem/g, certificate)

/** Returns the text between these parts of the page. */
const pageBetween = (before: string, after: string): string => {
  const [, rest = ""] = page.split(before)
  const [found, ...more] = rest.split(after)
  if (found === undefined || more.length === 0) throw new Error(`the page has no ${before}…${after}`)
  return found
}

const nginx =
  (change: (site: string, place: Place) => string): Prepare =>
  async (root, place, certificate) => {
    const text = certificatePaths(serverAddress(configurationOf("nginx", place), place), certificate)
    const site = change(replaced(text, "listen 443", `listen 127.0.0.1:${place.own}`), place)
    const main = `daemon off;\npid /peer/nginx-${place.own}.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n`
    return ["nginx", "-c", await root.write(`nginx-${place.own}.conf`, `${main}${site}\n}\n`)]
  }

const NGINX: Proxy = {
  name: "nginx",
  measuresBodies: true,
  prepare: nginx((site) => site),
  cached: nginx((site, { own }) => {
    const path = replaced(pageBetween("nginx: `", "`"), "/var/cache/nginx/", `/peer/cache-${own}-`)
    const [use] = /proxy_cache \w+;/.exec(page) ?? []
    return `${path}\n${replaced(site, "proxy_http_version", `${use}\n    proxy_http_version`)}`
  })
}

const haproxy = async (root: PeerRoot, place: Place, certificate: string) => {
  const text = certificatePaths(serverAddress(configurationOf("HAProxy", place), place), certificate)
  const configuration = replaced(text, "bind :443", `bind 127.0.0.1:${place.own}`)
  return ["haproxy", "-db", "-f", await root.write(`haproxy-${place.own}.cfg`, `${configuration}\n`)]
}

const HAPROXY: Proxy = { name: "HAProxy", prepare: haproxy }

const APACHE: Proxy = {
  name: "Apache",
  prepare: async (root, place, certificate) => {
    const text = certificatePaths(serverAddress(`${configurationOf("Apache", place)}\n`, place), certificate)
    const folder = `/peer/apache-${place.own}`
    await root.sh('mkdir -p "$1" && ln -sfn /usr/lib/apache2/modules "$1/modules"', folder)
    const main = [
      `ServerRoot ${folder}`,
      `PidFile ${folder}/pid`,
      `Mutex file:${folder} default`,
      `ErrorLog ${folder}/error.log`,
      "LoadModule mpm_event_module modules/mod_mpm_event.so",
      "LoadModule authz_core_module modules/mod_authz_core.so",
      `Listen 127.0.0.1:${place.own}`
    ]
    const site = replaced(text, "*:443", `*:${place.own}`)
    const file = await root.write(`apache-${place.own}/httpd.conf`, `${main.join("\n")}\n${site}`)
    return ["apache2", "-D", "FOREGROUND", "-f", file]
  }
}

const CADDY: Proxy = {
  name: "Caddy",
  prepare: async (root, place, certificate) => {
    const text = serverAddress(configurationOf("Caddy", place), place)
    const site = replaced(
      text,
      "api.example.com {",
      `https://localhost:${place.own} {\n  tls ${certificate} ${certificate}`
    )
    const main = "{\n  admin off\n  auto_https disable_redirects\n}\n"
    const file = await root.write(`caddy-${place.own}/Caddyfile`, `${main}${site}\n`)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", file]
  }
}

/** With HAProxy in front of it, which adds TLS. */
const varnish =
  (change: (vcl: string) => string): Prepare =>
  async (root, place, certificate) => {
    const port = await freePort()
    const [, options] = /`varnishd ([^`]+)`/.exec(page) ?? []
    if (options === undefined) throw new Error("the page has no options of varnishd")
    const vcl = replaced(change(configurationOf("Varnish")), '"8080"', `"${place.server}"`)
    const file = await root.write(`varnish-${port}.vcl`, `${vcl}\n`)
    const listening = ["-F", "-a", `127.0.0.1:${port}`, "-n", `/peer/varnish-${port}`, "-s", "malloc,32m", "-f", file]
    root.start(["varnishd", ...listening, ...options.split(" ")])
    return haproxy(root, { ...place, server: port }, certificate)
  }

const VARNISH: Proxy = {
  name: "Varnish",
  measuresBodies: true,
  prepare: varnish((vcl) => vcl),
  cached: varnish((vcl) => replaced(vcl, "  return (pass);", configurationOf("A cache")))
}

export const PROXIES = [NGINX, HAPROXY, APACHE, CADDY, VARNISH]
