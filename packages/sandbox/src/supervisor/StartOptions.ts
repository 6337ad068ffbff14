import { isIP } from "node:net"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import type { AllowedWebhook } from "./Telephony.ts"

/** What the command line asks of the sandbox. */
export interface StartOptions {
  /** Whether the tour is taken once the sandbox runs, if it was not taken before. */
  readonly tour: boolean
  /** Of the HTTP interface; 0 takes a free one. */
  readonly port: number
  /** How many servers run: 1 to 8. */
  readonly servers: number
  /** The PostgreSQL that they share, where it is somebody's. */
  readonly databaseUrl: string | undefined
  /** An agent of the tester's own on this machine, behind numbers. */
  readonly allowWebhook: AllowedWebhook | undefined
  /** Absolute. Holds everything that outlives a run. */
  readonly dataDir: string
}

/** What a command line comes to. */
export type CommandLine<Options> =
  | { readonly _tag: "Run"; readonly options: Options }
  | { readonly _tag: "Help" }
  | { readonly _tag: "Misused"; readonly message: string }

export const defaultPort = 8402

const workspace = fileURLToPath(new URL("../../../..", import.meta.url))
/** In the root of the workspace, where no version control sees it. */
export const defaultDataDir = join(workspace, ".agentos")

/** A machine of one's own carries so many. */
export const serversMax = 8

export const startHelp = `Usage: npx -y pnpm@12 start [options]

Starts the whole of AgentOS on this machine, on a chain with play money, and takes the tour once.

  --no-tour                  leave the tour out
  --port N                   port of the HTTP interface, of the first server (${defaultPort}; 0 takes a free one, and
                             the same at the next start if it still is)
  --servers N                how many servers run, 1 to ${serversMax}, on one PostgreSQL (1)
  --database-url URL         that PostgreSQL, as postgres://user:password@host:port/database
  --allow-webhook HOST:PORT  an agent of your own on this machine (127.0.0.1, [::1] or localhost) that may answer
                             calls, though its address is no public one
  --allow-webhook-ca FILE    PEM of the authority behind its certificate, or of a certificate that it signed itself
  --data DIR                 what is kept from one run to the next (.agentos)
  --help                     this text

One server keeps its data in a database embedded in it, several in a PostgreSQL that is started with them; both lie in
DIR. With --database-url, or DATABASE_URL in the environment, data are kept there. --allow-webhook and
--allow-webhook-ca go together.
`

export const tourHelp = `Usage: npx -y pnpm@12 tour [options]

Takes an agent's tour through a sandbox that runs: pay for a mailbox, receive mail, answer it; buy a telephone number,
call somebody, be called.

  --data DIR   the data directory of the sandbox (.agentos)
  --help       this text
`

const help = { type: "boolean", short: "h" } as const

export const readStartOptions = (
  args: ReadonlyArray<string>,
  environment: NodeJS.ProcessEnv
): CommandLine<StartOptions> =>
  readOptions(() => {
    const { values } = parseArgs({
      args: ownArguments(args),
      options: {
        "no-tour": { type: "boolean" },
        port: { type: "string" },
        servers: { type: "string" },
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
      port: values.port === undefined ? defaultPort : portOf(values.port),
      servers: values.servers === undefined ? 1 : countOf(values.servers),
      databaseUrl: databaseUrlOf(values["database-url"], environment),
      allowWebhook: webhookOf(values["allow-webhook"], values["allow-webhook-ca"]),
      dataDir: dataDirOf(values.data)
    }
  })

export const readTourOptions = (args: ReadonlyArray<string>): CommandLine<{ readonly dataDir: string }> =>
  readOptions(() => {
    const { values } = parseArgs({ args: ownArguments(args), options: { data: { type: "string" }, help } })
    return values.help === true ? undefined : { dataDir: dataDirOf(values.data) }
  })

/** Some package runners hand on the `--` that separates their own options from a script's. */
const ownArguments = (args: ReadonlyArray<string>): Array<string> => args.slice(args[0] === "--" ? 1 : 0)

const readOptions = <Options>(read: () => Options | undefined): CommandLine<Options> => {
  try {
    const options = read()
    return options === undefined ? { _tag: "Help" } : { _tag: "Run", options }
  } catch (error) {
    return { _tag: "Misused", message: error instanceof Error ? error.message : String(error) }
  }
}

const portOf = (text: string): number => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new Error(`--port takes a number from 0 to 65535, not ${JSON.stringify(text)}`)
  return port
}

const countOf = (text: string): number => {
  const count = /^\d$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= serversMax) return count
  throw new Error(`--servers takes a number from 1 to ${serversMax}, not ${JSON.stringify(text)}`)
}

/** What the command line says counts. The text of a wrong one is not shown: it may hold a password. */
const databaseUrlOf = (text: string | undefined, environment: NodeJS.ProcessEnv): string | undefined => {
  if (text === undefined) return environment["DATABASE_URL"]?.trim() || undefined
  if (URL.canParse(text) && /^postgres(?:ql)?:$/.test(new URL(text).protocol)) return text
  throw new Error("--database-url takes the address of a PostgreSQL: postgres://user:password@host:port/database")
}

const webhookOf = (address: string | undefined, caFile: string | undefined): AllowedWebhook | undefined => {
  if (address === undefined && caFile === undefined) return undefined
  if (address === undefined || caFile === undefined) {
    throw new Error("--allow-webhook and --allow-webhook-ca go together: an agent's address is no use without trust")
  }
  if (caFile === "") throw new Error("--allow-webhook-ca takes a file")
  const [, bracketed, plain, port = ""] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(address) ?? []
  const host = bracketed === undefined ? loopbackOf(plain ?? "", 4) : loopbackOf(bracketed, 6)
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new Error(
      "--allow-webhook takes an address of this machine and a port, as 127.0.0.1:9443, [::1]:9443 or localhost:9443; " +
        `not ${JSON.stringify(address)}`
    )
  }
  return { host, port: Number(port), caFile: resolve(caFile) }
}

/** A host as URLs spell it, if it is this machine's loopback: servers connect to no other that is not public. */
const loopbackOf = (text: string, family: 4 | 6): string | undefined => {
  if (family === 4 && text.toLowerCase() === "localhost") return "localhost"
  if (isIP(text) !== family) return undefined
  const host = new URL(family === 6 ? `https://[${text}]` : `https://${text}`).hostname.replace(/^\[(.*)\]$/, "$1")
  return host === "::1" || host.startsWith("127.") ? host : undefined
}

const dataDirOf = (text: string | undefined): string => {
  if (text === "") throw new Error("--data takes a directory")
  return text === undefined ? defaultDataDir : resolve(text)
}
