import { isIP } from "node:net"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { START_COMMAND, TOUR_COMMAND } from "./Installation.ts"
import { type AllowedWebhook, defaultPort, type NetworkCount } from "./RunLayout.ts"

export interface StartOptions {
  /** Runs the tour unless it was completed before. */
  readonly tour: boolean
  /** The port of the HTTP interface; 0 selects a free one. By default `defaultPort`, or the next free one. */
  readonly port: number | undefined
  /** The number of servers, 1 to 8. */
  readonly servers: number
  readonly networks: NetworkCount
  /** An external PostgreSQL for the servers. */
  readonly databaseUrl: string | undefined
  /** The user's own agent on this machine. */
  readonly allowWebhook: AllowedWebhook | undefined
  /** An absolute path. Keeps the data between runs. */
  readonly dataDir: string
}

export type CommandLine<Options> =
  | { readonly _tag: "Run"; readonly options: Options }
  | { readonly _tag: "Help" }
  | { readonly _tag: "UsageError"; readonly message: string }

/** In the working directory, which is the root of the workspace if a script starts the sandbox. */
export const defaultDataDir = resolve(".agentos")

/** As many as a developer's machine can run. */
const serversMax = 8

export const startHelp = `Usage: ${START_COMMAND} [options]

Starts AgentOS on this machine, with test USDT on local chains, and runs the tour once.

  --no-tour                  do not run the tour
  --port N                   port of the first server's HTTP interface (default ${defaultPort}, or the next free one);
                             0 selects a free port and reuses it at the next start if possible
  --servers N                number of servers on one PostgreSQL, 1 to ${serversMax} (default 1)
  --networks N               number of payment networks (default 2): with 1, USD₮0 by EIP-3009; with 2, also USDT by
                             Permit2, on a second chain; with 3, also USDC on that chain, whose payers need no gas
  --database-url URL         an external PostgreSQL: postgres://user:password@host:port/database
  --allow-webhook HOST:PORT  allow calls to your own agent on this machine (127.0.0.1, [::1] or localhost)
  --allow-webhook-ca FILE    PEM file of that agent's certificate authority or self-signed certificate
  --data DIR                 data directory (default .agentos)
  --help                     show this help

One server stores its data in an embedded database, several in a PostgreSQL that the sandbox starts; both are in DIR.
With --database-url, or DATABASE_URL in the environment, the servers use that database. --allow-webhook requires
--allow-webhook-ca.
`

export const tourHelp = `Usage: ${TOUR_COMMAND} [options]

Runs the tour of a running sandbox: pay for a mailbox, receive mail and reply; buy a phone number, place a call and
receive one.

  --data DIR   data directory of the sandbox (default .agentos)
  --help       show this help
`

const help = { type: "boolean", short: "h" } as const

export const readStartOptions = (
  args: ReadonlyArray<string>,
  environment: NodeJS.ProcessEnv
): CommandLine<StartOptions> =>
  readOptions(() => {
    const { values } = parseArgs({
      args: scriptArguments(args),
      options: {
        "no-tour": { type: "boolean" },
        port: { type: "string" },
        servers: { type: "string" },
        networks: { type: "string" },
        "database-url": { type: "string" },
        "allow-webhook": { type: "string" },
        "allow-webhook-ca": { type: "string" },
        data: { type: "string" },
        help
      }
    })
    if (values.help === true) return undefined
    return {
      tour: values["no-tour"] !== true,
      port: values.port === undefined ? undefined : portOf(values.port),
      servers: values.servers === undefined ? 1 : countOf(values.servers),
      networks: networksOf(values.networks),
      databaseUrl: databaseUrlOf(values["database-url"], environment),
      allowWebhook: webhookOf(values["allow-webhook"], values["allow-webhook-ca"]),
      dataDir: dataDirOf(values.data)
    }
  })

export const readTourOptions = (args: ReadonlyArray<string>): CommandLine<{ readonly dataDir: string }> =>
  readOptions(() => {
    const { values } = parseArgs({ args: scriptArguments(args), options: { data: { type: "string" }, help } })
    return values.help === true ? undefined : { dataDir: dataDirOf(values.data) }
  })

/** Removes the `--` that some package runners pass on to the script. */
const scriptArguments = (args: ReadonlyArray<string>): Array<string> => args.slice(args[0] === "--" ? 1 : 0)

const readOptions = <Options>(read: () => Options | undefined): CommandLine<Options> => {
  try {
    const options = read()
    return options === undefined ? { _tag: "Help" } : { _tag: "Run", options }
  } catch (error) {
    return { _tag: "UsageError", message: error instanceof Error ? error.message : String(error) }
  }
}

const portOf = (text: string): number => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new Error(`--port must be a number from 0 to 65535, but is ${JSON.stringify(text)}`)
  return port
}

const countOf = (text: string): number => {
  const count = /^\d$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= serversMax) return count
  throw new Error(`--servers must be a number from 1 to ${serversMax}, but is ${JSON.stringify(text)}`)
}

const networksOf = (text = "2"): NetworkCount => {
  const counts = { "1": 1, "2": 2, "3": 3 } as const
  if (text === "1" || text === "2" || text === "3") return counts[text]
  throw new Error(`--networks must be 1, 2 or 3, but is ${JSON.stringify(text)}`)
}

/** The command line takes precedence. An invalid URL is not shown, because it may contain a password. */
const databaseUrlOf = (text: string | undefined, environment: NodeJS.ProcessEnv): string | undefined => {
  if (text === undefined) return environment["DATABASE_URL"]?.trim() || undefined
  if (URL.canParse(text) && /^postgres(?:ql)?:$/.test(new URL(text).protocol)) return text
  throw new Error("--database-url must be a PostgreSQL URL: postgres://user:password@host:port/database")
}

const webhookOf = (address: string | undefined, caFile: string | undefined): AllowedWebhook | undefined => {
  if (address === undefined && caFile === undefined) return undefined
  if (address === undefined || caFile === undefined) {
    throw new Error("--allow-webhook and --allow-webhook-ca require each other")
  }
  if (caFile === "") throw new Error("--allow-webhook-ca must name a file")
  const [, bracketed, plain, port = ""] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(address) ?? []
  const host = bracketed === undefined ? loopbackOf(plain ?? "", 4) : loopbackOf(bracketed, 6)
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new Error(
      "--allow-webhook must be a loopback address and a port (127.0.0.1:9443, [::1]:9443 or localhost:9443), but is " +
        JSON.stringify(address)
    )
  }
  return { host, port: Number(port), caFile: resolve(caFile) }
}

/** Returns a loopback host in the form of URLs, or undefined for other hosts. */
const loopbackOf = (text: string, family: 4 | 6): string | undefined => {
  if (family === 4 && text.toLowerCase() === "localhost") return "localhost"
  if (isIP(text) !== family) return undefined
  const host = new URL(family === 6 ? `https://[${text}]` : `https://${text}`).hostname.replace(/^\[(.*)\]$/, "$1")
  return host === "::1" || host.startsWith("127.") ? host : undefined
}

const dataDirOf = (text: string | undefined): string => {
  if (text === "") throw new Error("--data must name a directory")
  return text === undefined ? defaultDataDir : resolve(text)
}
