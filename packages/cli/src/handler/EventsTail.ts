import type { InputOf } from "../command/Command.ts"
import type { EVENTS_TAIL } from "../command/EventCommands.ts"
import type { Context } from "../command/Handler.ts"
import { Failure } from "../failure/Failure.ts"
import { momentOfFlag } from "../output/Moment.ts"
import { countOf } from "../output/Wording.ts"
import { connectWithToken } from "../server/Connection.ts"
import type { TailEvent } from "../tail/Delivery.ts"
import { runCommand } from "../tail/EventCommand.ts"
import { forward } from "../tail/EventForward.ts"
import { eventLine } from "../tail/EventLine.ts"
import { LookingSource } from "../tail/LookingSource.ts"
import { isSelective, type TailFilter } from "../tail/TailFilter.ts"
import { type Handled, Worker } from "../tail/Worker.ts"
import { WorkingSource } from "../tail/WorkingSource.ts"
import { typesOf } from "./EventsList.ts"

type Input = InputOf<typeof EVENTS_TAIL>

export const run = async (context: Context, { flags }: Input): Promise<void> => {
  const { host, output } = context
  const handle = handlerOf(context, flags)
  const acknowledge = flags.ack ?? (handle === undefined ? "never" : "success")
  const filter: TailFilter = {
    types: typesOf(flags.types),
    service: flags.service,
    since: flags.since === undefined ? undefined : momentOfFlag("since", flags.since, host.now())
  }
  const { client } = await connectWithToken(context)
  const worker = new Worker(output, {
    handle: handle ?? printerOf(context),
    acknowledge,
    jobs: flags.jobs,
    max: flags.max
  })
  const Source = acknowledge === "never" ? LookingSource : WorkingSource
  const source = new Source(context, client, filter, worker)
  if (acknowledge !== "never" && isSelective(filter))
    output.note("Events are chosen, so none is leased: one such tail at a time, or they are handled more than once.")
  await untilEnded(context, worker, (stop) => source.follow(stop))
  if (worker.failures > 0 && flags.max !== undefined)
    throw new Failure({
      code: "FAILED",
      message: `${countOf(worker.failures, "event")} of ${flags.max} could not be handled.`
    })
}

/** What is done with an event besides showing it. */
const handlerOf = (context: Context, flags: Input["flags"]): ((event: TailEvent) => Promise<Handled>) | undefined => {
  const { host } = context
  const { exec, "forward-to": url } = flags
  if (exec !== undefined && url !== undefined)
    throw new Failure({ code: "USAGE", message: "--exec and --forward-to exclude each other." })
  if (exec !== undefined) return (event) => runCommand(host, exec, event)
  if (url === undefined) return undefined
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Failure({
      code: "USAGE",
      message: `--forward-to takes an address that begins with http:// or https://, not "${url}".`
    })
  const print = printerOf(context)
  return async (event) => {
    const outcome = await forward(host, url, event)
    return outcome._tag === "Done" ? print(event) : outcome
  }
}

const printerOf =
  ({ host, output }: Context) =>
  async (event: TailEvent): Promise<Handled> => {
    const { columns, isTerminal } = host.stdout
    output.text(eventLine(event, output, { json: output.options.json || !isTerminal, columns }))
    await host.stdout.drained()
    return { _tag: "Done" }
  }

/** Follows until all is handled that was asked for, or until it is interrupted; and lets what runs end first. */
const untilEnded = async (
  { host }: Context,
  worker: Worker,
  follow: (stop: AbortSignal) => Promise<void>
): Promise<void> => {
  const stop = new AbortController()
  const interrupted = new Promise<never>((_, reject) => {
    const interrupt = () => reject(new Failure({ code: "INTERRUPTED", message: "Interrupted." }))
    if (host.signal.aborted) interrupt()
    host.signal.addEventListener("abort", interrupt, { once: true })
  })
  const following = follow(stop.signal)
  try {
    await Promise.race([following, worker.ended(), interrupted])
  } finally {
    // Leases are held until nothing runs any more, so that nobody else begins with what is still being handled.
    await worker.close()
    stop.abort()
    // Whatever it fails with now is due to its end.
    await Promise.allSettled([following])
  }
}
