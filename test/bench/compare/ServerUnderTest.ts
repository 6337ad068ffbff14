import { READY_PATH } from "@agentos/api"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { ClusterOptions } from "../../support/Cluster.ts"
import { type RealtimeRig, startRealtimeRig } from "../../support/RealtimeRig.ts"
import { type BenchRun, DURABLE } from "../Bench.ts"
import { usageOf } from "../ProcessUsage.ts"
import type { HttpServer } from "./HttpSides.ts"
import { OTHER_PROGRAM } from "./OtherBuild.ts"

const SERVER = fileURLToPath(new URL("../../../packages/server", import.meta.url))
const BUILD = join(SERVER, "build/bundleMain.ts")
const PROGRAM = join(SERVER, "dist/bundle/agentos-server.cjs")
const MODULE = join(SERVER, "src/main.ts")

/** The built server on a durable PostgreSQL, with a chain, a facilitator and a relay. */
export interface ServerUnderTest extends HttpServer {
  readonly rig: RealtimeRig
  /** The path of its log. */
  readonly log: string
  /** Starts it again, in a process of another id. */
  readonly restart: () => Promise<void>
}

export interface ServerUnderTestOptions extends Pick<ClusterOptions, "network" | "paymentMethod" | "environment"> {
  /** Runs the program from its modules instead, with these flags of Node. */
  readonly fromModules?: ReadonlyArray<string>
  /** Runs this program, which is built already. */
  readonly program?: string
}

const READY_WITHIN_MILLIS = 30_000

/** Builds agentos-server, and returns the path of its program. */
export const buildServer = async (): Promise<string> => {
  await promisify(execFile)(process.execPath, [BUILD])
  return PROGRAM
}

/** Builds agentos-server with a plugin of the bundler, the default export of a module, for as long as the bench runs. */
export const buildServerWith = async ({ atEnd }: BenchRun, plugin: URL): Promise<string> => {
  // Beside the real one, because the program loads a library of the package.
  const folder = join(SERVER, "dist", basename(plugin.pathname, ".ts"))
  atEnd(async () => rmSync(folder, { recursive: true, force: true }))
  await promisify(execFile)(process.execPath, [BUILD, folder, fileURLToPath(plugin)])
  return join(folder, basename(PROGRAM))
}

/**
 * Builds agentos-server and runs it as a user does: its defaults, no flags of Node, its log in a file. Only the limits
 * of requests of one address are off.
 */
export const startServerUnderTest = async (
  bench: BenchRun,
  { fromModules, program, ...options }: ServerUnderTestOptions = {}
): Promise<ServerUnderTest> => {
  const command =
    fromModules === undefined
      ? [program ?? process.env[OTHER_PROGRAM] ?? (await buildServer())]
      : [...fromModules, MODULE]
  const rig = await startRealtimeRig({ servers: 1, database: DURABLE, ...options })
  bench.atEnd(rig.stop)
  const server = rig.cluster.servers[0]!
  // The cluster reads the log of its servers in this process. In its place, the server writes to a file.
  await server.stop()
  const folder = mkdtempSync(join(tmpdir(), "agentos-bench-"))
  bench.atEnd(async () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, "log")
  const log = openSync(path, "w")
  const launch = async () => {
    const child = spawn(process.execPath, [...command, "start"], {
      env: { ...server.environment(), NODE_ENV: "production", NODE_OPTIONS: "" },
      stdio: ["ignore", log, log]
    })
    const closed = once(child, "close")
    const stop = async () => {
      child.kill("SIGTERM")
      await closed
    }
    const startedAt = performance.now()
    while (!(await isReady(server.baseUrl))) {
      if (child.exitCode !== null || performance.now() - startedAt > READY_WITHIN_MILLIS) {
        await stop()
        throw new Error(`agentos-server did not start:\n${readFileSync(path, "utf8")}`)
      }
      await sleep(50)
    }
    return { child, pid: child.pid!, stop }
  }
  let running = await launch()
  bench.atEnd(async () => {
    if (running.child.exitCode === null) {
      const { peakBytes } = usageOf(running.pid)
      bench.say(`\nagentos-server used at most ${(peakBytes / 1024 / 1024).toFixed(0)} MB of memory (VmHWM)`)
    }
    await running.stop()
  })
  return {
    name: "agentos-server",
    url: server.baseUrl,
    get pid() {
      return running.pid
    },
    restart: async () => {
      await running.stop()
      running = await launch()
    },
    rig,
    log: path
  }
}

const isReady = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url + READY_PATH)).ok
  } catch {
    return false
  }
}
