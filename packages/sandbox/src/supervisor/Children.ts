import { rm } from "node:fs/promises"
import { join } from "node:path"
import type { ChildProgram } from "./ChildProcess.ts"
import { describeRun } from "./Description.ts"
import { explain, StartRefused } from "./Failure.ts"
import { openLog } from "./LogFile.ts"
import { programs } from "./Programs.ts"
import type { RunLayout } from "./RunLayout.ts"
import { type SandboxDescription, writeSandboxFile } from "./SandboxFile.ts"
import { superviseChild } from "./SupervisedChild.ts"

/** All processes of a run. */
export interface Children {
  readonly description: SandboxDescription
  readonly stop: () => Promise<void>
}

/**
 * How long they may take to end. Servers may finish what they are at; a database writes down what it has in memory; the
 * rest has nothing to finish. One after the other they stay under ten seconds, unless two of them are held up.
 */
const serverGraceMillis = 8_500
const databaseGraceMillis = 5_000
const graceMillis = 1_200

/** A process that is kept running. */
interface Kept {
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Of the process that serves now; 0 before there is one. */
  readonly pid: () => number
}

/** Every process of a run. */
interface Family {
  readonly chain: Kept
  readonly facilitator: Kept
  readonly relay: Kept
  readonly carrier: Kept
  readonly agent: Kept
  /** One, or none. */
  readonly postgres: ReadonlyArray<Kept>
  readonly servers: ReadonlyArray<Kept>
}

/** Starts everything, and resolves once it serves and `sandbox.json` says so. */
export const startChildren = async (
  run: RunLayout,
  report: (line: string) => void,
  signal: AbortSignal
): Promise<Children> => {
  const { sandboxFile } = run.data
  let announced = false
  let written: Promise<void> = Promise.resolve()
  const describe = () => describeFamily(run, family)
  const announce = (): Promise<void> =>
    (written = written.then(() => (announced ? writeSandboxFile(sandboxFile, describe()) : undefined)))
  const family = makeFamily(run, report, announce)

  const stop = async (): Promise<void> => {
    const { agent, carrier, chain, facilitator, postgres, relay, servers } = family
    await Promise.all(servers.map((server) => server.stop()))
    await Promise.all([chain, facilitator, relay, carrier, agent, ...postgres].map((helper) => helper.stop()))
    await written.catch(() => undefined)
    await rm(sandboxFile, { force: true })
  }

  try {
    await Promise.race([refusal(signal), startFamily(run, family)])
    announced = true
    await announce()
    return { description: describe(), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Nothing of it runs yet. `announce` is called whenever a process has taken another's place. */
const makeFamily = (run: RunLayout, report: (line: string) => void, announce: () => Promise<void>): Family => {
  const keep = (program: ChildProgram, log: string, stopMillis: number): Kept => {
    let pid = 0
    const child = superviseChild(program, openLog(join(run.data.logs, `${log}.log`)), {
      onDied: (how) => report(`The ${program.name} ${how}; starting it again.`),
      onStuck: (error) => report(`${explain(error)}\nIt is tried again every second.`),
      onServing: (next) => {
        pid = next
        void announce().then(
          () => report(`The ${program.name} serves again, as process ${next}.`),
          (error: unknown) => report(String(error))
        )
      }
    })
    return {
      start: async () => void (pid = await child.start()),
      stop: () => child.stop(stopMillis),
      pid: () => pid
    }
  }
  const { agent, carrier, chain, facilitator, postgres, relay, servers } = programs(run)
  return {
    chain: keep(chain, "chain", graceMillis),
    facilitator: keep(facilitator, "facilitator", graceMillis),
    relay: keep(relay, "relay", graceMillis),
    carrier: keep(carrier, "carrier", graceMillis),
    agent: keep(agent, "agent", graceMillis),
    postgres: postgres === undefined ? [] : [keep(postgres, "postgres", databaseGraceMillis)],
    servers: servers.map((program, index) =>
      keep(program, index === 0 ? "server" : `server-${index + 1}`, serverGraceMillis)
    )
  }
}

/** All at once, but for the servers, which look only once for a token on the chain and for their database. */
const startFamily = async (run: RunLayout, family: Family): Promise<void> => {
  const chain = family.chain.start()
  const postgres = family.postgres.map(({ start }) => start())
  const servers = Promise.all([run.isNewChain ? chain : undefined, ...postgres]).then(() =>
    Promise.all(family.servers.map(({ start }) => start()))
  )
  const { agent, carrier, facilitator, relay } = family
  const others = [facilitator, relay, carrier, agent].map(({ start }) => start())
  await Promise.all([chain, ...others, servers])
}

const describeFamily = (run: RunLayout, family: Family) => {
  const { agent, carrier, chain, facilitator, postgres, relay, servers } = family
  const pids = servers.map(({ pid }) => pid())
  return describeRun(run, pids, {
    server: pids[0] ?? 0,
    chain: chain.pid(),
    facilitator: facilitator.pid(),
    relay: relay.pid(),
    carrier: carrier.pid(),
    agent: agent.pid(),
    ...(postgres[0] && { postgres: postgres[0].pid() })
  })
}

/** Rejects when the start is to end. */
const refusal = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const abort = () => reject(new StartRefused("Stopped before it was ready."))
    if (signal.aborted) abort()
    signal.addEventListener("abort", abort)
  })
