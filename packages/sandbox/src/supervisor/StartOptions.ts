import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

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

  --no-tour           leave the tour out
  --port N            port of the HTTP interface, of the first server (${defaultPort}; 0 takes a free one)
  --servers N         how many servers run, 1 to ${serversMax}, on one PostgreSQL (1)
  --database-url URL  that PostgreSQL, as postgres://user:password@host:port/database
  --data DIR          what is kept from one run to the next (.agentos)
  --help              this text

One server keeps its data in a database embedded in it, several in a PostgreSQL that is started with them; both lie in
DIR. With --database-url, or DATABASE_URL in the environment, data are kept there.
`

export const tourHelp = `Usage: npx -y pnpm@12 tour [options]

Takes an agent's tour through a sandbox that runs: pay for a mailbox, receive mail, answer it.

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

const dataDirOf = (text: string | undefined): string => {
  if (text === "") throw new Error("--data takes a directory")
  return text === undefined ? defaultDataDir : resolve(text)
}
